"""Lets `python3 -m frontload` run the command."""

import os
import sys
from contextlib import suppress

from frontload.cli.main import main

status = main()
with suppress(OSError):  # main() has said what it could not write
    sys.stdout.flush()
# Not by sys.exit(): to take a million names apart takes half a second, and the kernel a tenth.
os._exit(status)
