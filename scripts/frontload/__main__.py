"""Lets `python3 -m frontload` run the command."""

import sys

from frontload.cli.main import main

sys.exit(main())
