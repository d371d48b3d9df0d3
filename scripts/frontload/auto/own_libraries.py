"""The shared libraries of a program that belong to its build, and can be linked again as it can:
the code of many programs (sqlite3, git, php) is in such a library, and so should be their front.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from frontload.auto import programs, relink
from frontload.auto.link_command import LinkCommand
from frontload.auto.linker_options import REFUSED
from frontload.base.errors import Failure
from frontload.base.missing import Missing
from frontload.elf import dependencies

SEARCHED = "LD_LIBRARY_PATH"


@dataclass
class Library:
    name: str  # by which the program asks for it
    path: str  # the file, links followed
    link: LinkCommand
    profile: str = ""  # the path of its startup profile
    output: str = ""  # its file with a front; empty if it has none


def find(program: str, environment: Mapping[str, str], search: Callable[[str], LinkCommand]
         ) -> tuple[list[Library], list[Missing]]:
    """The libraries of the program's build, and those that cannot be linked again. `search` finds
    the link of a file."""
    found, missing = [], []
    folders = environment.get(SEARCHED, os.environ.get(SEARCHED, "")).split(":")
    for path in dependencies.needed(program, [folder for folder in folders if folder]):
        real = os.path.realpath(path)
        if programs.is_of_system(real):
            continue
        name = os.path.basename(path)
        try:
            if programs.look(real).stripped:
                raise Failure("it is stripped", note="strip it last")
            link = search(real)
            refused = [each for each in relink.hindrances(link) if each.kind == REFUSED]
            if refused:
                raise Failure(f"{refused[0].option}: {refused[0].why}", note=refused[0].remedy)
            found.append(Library(name, real, link))
        except Failure as problem:
            missing.append(Missing(f"a front of {name}", problem.message,
                                   problem.note or "link it in its own build, with --module"))
    return found, missing
