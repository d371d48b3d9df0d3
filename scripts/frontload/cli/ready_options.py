"""The options for the end of startup, such as --until and --until-listening: the same in every verb
that starts commands. add() declares them, chosen() reads them.
"""

import argparse
from dataclasses import replace

from frontload.base.ready import TIMEOUT_SECONDS, Ready
from frontload.cli.arguments import count, seconds

KEEPS_RUNNING = "the program keeps running unless --timeout or --tty is given"
IS_ENDED = "the program is then ended"


def add_until(parser: argparse._ActionsContainer, then: str) -> None:
    """--until; `then`: what becomes of the program."""
    parser.add_argument("--until", metavar="SYMBOL", help="startup ends when the program enters "
                        f"this function; {then}")


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tty", action="store_true",
                        help="give the program a terminal of its own, without input, for editors "
                        "and the like")
    group = parser.add_argument_group(
        "programs that do not end", "Startup ends at the first of these events. The program is "
        "then ended by SIGTERM, and by SIGKILL after five seconds.")
    group.add_argument("--until-listening", metavar="[ADDRESS:]PORT",
                       help="a process of the command listens there")
    group.add_argument("--until-output", metavar="TEXT",
                       help="it has written this to its standard output or error output")
    group.add_argument("--until-file", metavar="PATH", help="this file exists")
    group.add_argument("--until-idle", metavar="MS", type=count(1),
                       help="no thread has run or waited for a disk for MS milliseconds")
    group.add_argument("--until-notify", action="store_true",
                       help="it sends READY=1 (sd_notify)")
    group.add_argument("--for", dest="seconds", metavar="SECONDS", type=seconds,
                       help="this time has passed")
    group.add_argument("--request", metavar="COMMAND",
                       help="when it is ready, run this in a shell; startup ends when it ends")
    group.add_argument("--timeout", metavar="SECONDS", type=seconds,
                       help="give up, with exit status 124, if the program is not ready by then "
                       f"(default {TIMEOUT_SECONDS:g})")


def chosen(args: argparse.Namespace, *, until: str | None = None,
           function: str | None = None) -> Ready | None:
    """The event that the options name, or None. `until`: a function that ends the recording; with
    --timeout, it also ends the program. `function`: one that always ends the program."""
    ready = Ready(function=function, listening=args.until_listening, output=args.until_output,
                  file=args.until_file, idle_ms=args.until_idle, notify=args.until_notify,
                  seconds=args.seconds, request=args.request,
                  timeout=args.timeout or TIMEOUT_SECONDS, tty=args.tty)
    for option in ("request", "timeout"):
        is_meant = ready.can_be_seen or (until is not None and option == "timeout")
        if getattr(args, option) is not None and not is_meant:
            args.usage_error(f"--{option} is for programs that do not end: say when the start is "
                             "over, by --until-... or --for")
    return ready if ready.can_be_seen or args.timeout is not None or args.tty else None


def of_recording(args: argparse.Namespace) -> Ready | None:
    """The same for recordings of faults, where --until ends a phase."""
    ready = chosen(args, until=args.until)
    return replace(ready, function=args.until) if ready else None
