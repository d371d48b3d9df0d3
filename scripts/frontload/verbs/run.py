"""frontload run: runs a command whose front, and those of its libraries, are prefetched first.

The work is done by the native program frontload-run, which this process becomes; called directly,
it saves the start of Python.
"""

import argparse
import os
import signal

from frontload.base import tools
from frontload.cli.arguments import command
from frontload.device import kinds

DESCRIPTION = """\
Ask the kernel for the front of a program, and for the fronts of the shared libraries that it needs,
then run it. This is for programs that ld.frontload linked with --front-prefetch, or that carry the
note of their front, and that do not prefetch it themselves. Any other command is simply run.

With a reading list, run asks for what the list says the start reads of all its files, while the
command starts. Files that have changed since are left alone.

The command replaces frontload: its process id, exit status and signals are its own.
`frontload-run -- COMMAND...` does the same and starts faster, because it is not a Python program.
"""
EXAMPLES = """\
frontload run -- ./app --its arguments
# any program, with what `frontload record --files` has recorded
frontload run --files app.files -- ./app --its arguments
"""
DEVICES = *kinds.KINDS, kinds.LAZY
EXIT_STATUS = {"0": None, "65": None, "2": "the command's own status, or the command line is wrong",
               "126": "the command cannot be executed", "127": "the command was not found"}


def add_parser(verbs) -> argparse.ArgumentParser:
    parser = verbs.add_parser(
        "run", usage="%(prog)s [--verbose] [--files LIST [--device KIND]] -- COMMAND...",
        description=DESCRIPTION, examples=EXAMPLES, exit_status=EXIT_STATUS)
    parser.add_argument("-v", "--verbose", action="store_true", default=argparse.SUPPRESS,
                        help="show on stderr what is prefetched")
    parser.add_argument("--files", metavar="LIST",
                        help="ask for what this reading list names, of all files of the start")
    parser.add_argument("--device", choices=DEVICES, metavar="KIND",
                        help="with --files: what its files are on, which decides which gaps are "
                        f"read along: {', '.join(DEVICES)} (default: as the file system and its "
                        "disk say)")
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER,
                        help="the command and its arguments, after --")
    parser.set_defaults(usage_error=parser.error)
    return parser


def run(args: argparse.Namespace) -> int:
    words = command(args)
    launcher = str(tools.tool("frontload-run"))
    options = ["--verbose"] if getattr(args, "verbose", False) else []
    if args.device and not args.files:
        args.usage_error("--device is for --files")
    options += [f"--{name}={value}" for name, value in (("files", args.files),
                                                        ("device", args.device)) if value]
    # What the frontload command itself was told is none of the program's business.
    environment = {name: value for name, value in os.environ.items() if name != "FRONTLOAD_BINDIR"}
    # Python ignores these for itself, and what is ignored stays so in the program.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    os.execve(launcher, [launcher, *options, "--", *words], environment)
