"""frontload run: runs a command whose front, and those of its libraries, are prefetched first.

The work is done by the native program frontload-run, which this process becomes; called directly,
it saves the start of Python.
"""

import argparse
import os
import signal

from frontload.base import tools
from frontload.cli.arguments import command

DESCRIPTION = """\
Ask the kernel for the front of a program, and for the fronts of the shared libraries that it needs,
then run it. This is for programs that ld.frontload linked with --front-prefetch, or that carry the
note of their front, and that do not prefetch it themselves. Any other command is simply run.

The command replaces frontload: its process id, exit status and signals are its own.
`frontload-run -- COMMAND...` does the same and starts faster, because it is not a Python program.
"""
EXAMPLES = """\
frontload run -- ./app --its arguments
"""
EXIT_STATUS = {"0": None, "65": None, "2": "the command's own status, or the command line is wrong",
               "126": "the command cannot be executed", "127": "the command was not found"}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "run", usage="%(prog)s [--verbose] -- COMMAND...",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("-v", "--verbose", action="store_true", default=argparse.SUPPRESS,
                        help="show on stderr what is prefetched")
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="the command and its arguments, after --")
    parser.set_defaults(usage_error=parser.error)
    return parser


def run(args: argparse.Namespace) -> int:
    words = command(args)
    launcher = str(tools.tool("frontload-run"))
    options = ["--verbose"] if getattr(args, "verbose", False) else []
    # What the frontload command itself was told is none of the program's business.
    environment = {name: value for name, value in os.environ.items() if name != "FRONTLOAD_BINDIR"}
    # Python ignores these for itself, and what is ignored stays so in the program.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(launcher, [launcher, *options, "--", *words], environment)
