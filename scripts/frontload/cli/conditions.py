"""The options for the page cache before a run, and for the files to evict.

The verbs measure, faults and report share them; measure/conditions.py explains each.
"""

import argparse

from frontload.measure.conditions import AS_IT_IS, COLD, SELECTIVELY_COLD, WARM

_CONDITIONS = {
    "--cold": (COLD, "evict everything from the page cache, of all programs on this machine; "
               "needs root"),
    "--selectively-cold": (SELECTIVELY_COLD, "evict only the program, or the files that --evict "
                           "names"),
    "--warm": (WARM, "read these files into the page cache instead"),
}
_NONE = {"--as-it-is": (AS_IT_IS, "leave the page cache as it is")}


def add_any(group: argparse._ArgumentGroup) -> None:
    """Any number of conditions: `conditions`, a list or None."""
    for option, (condition, text) in _CONDITIONS.items():
        group.add_argument(option, dest="conditions", action="append_const", const=condition,
                           help=text)


def add_one(group: argparse._ArgumentGroup) -> None:
    """At most one condition: `condition`."""
    choice = group.add_mutually_exclusive_group()
    for option, (condition, text) in (_CONDITIONS | _NONE).items():
        choice.add_argument(option, dest="condition", action="store_const", const=condition,
                            default=SELECTIVELY_COLD, help=text)


def add_eviction(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--evict", metavar="FILE", action="append", default=[],
                       help="a file to evict and observe instead of the program; {} stands for the "
                       "program; may be repeated")
    group.add_argument("--evict-seen", action="store_true",
                       help="when selectively cold, also evict all files that strace sees the "
                       "command read, unless another process holds them")
    group.add_argument("--allow-warm", action="store_true",
                       help="go on even if pages stay in the cache; the result records that")
