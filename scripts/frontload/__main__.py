"""Lets `python3 -m frontload` run the command."""

import os
import sys

from frontload.cli.main import main

status = main()
sys.stdout.flush()
# Not by sys.exit(): to take a million names apart takes half a second, and the kernel a tenth.
os._exit(status)
