"""What each cell of the matrix does: a program is linked with a profile of its version 1, and
judged.

- Every function of the profile that the linked file has (layout.py) was found and lies in the
  block, in order. The other names of a profile are gone.
- The consumer says that it found at least as many names as exist.
- The program writes what it did without a front.
"""

import functools
from pathlib import Path

import layout
from compiled import command_key, kept
from consumers import Consumer, Job, plain
from in_process import frontload
from places import BUILD, ROOT
from programs import Program, call

LOST_OF = 90  # so many names that exist, one may be lost: of a small program, none


@functools.cache
def recorded(program: Program, has_map: bool = False) -> Path:
    """A folder with the program without a front, and the startup profile of a run. By a map, local
    functions are told apart by the names of their objects, elsewhere by those of their sources."""
    def make(folder: Path) -> None:
        app, traces, link_map = folder / "app", folder / "traces", folder / "map"
        program.link(app, *plain(program), *[f"-Wl,-Map={link_map}"] * has_map)
        frontload("record", "-o", traces, "--", app)
        frontload("profile", traces, "-o", folder / "app.startup",
                  *["--map", link_map] * has_map)

    return kept(make, "recorded", *command_key([*program.link_command, *plain(program)]),
                *program.objects, has_map, BUILD / "bin", ROOT / "scripts" / "frontload")


def problems(before: Path, program: Program, consumer: Consumer, folder: Path,
             flags: tuple[str, ...] = (), out_of_order: int = 0) -> list[str]:
    """What does not hold of a link with what was `recorded` before. So many names may be out of
    order, where several lie in one section, or namesakes stand for each other."""
    job = Job(program, before / "app.startup", folder / "program", flags)
    found = consumer.link(job)
    here = layout.examine(job.output, job.profile, consumer.tells_namesakes)
    output = call(job.output, "--all").stdout
    least = here.exist - here.exist // LOST_OF
    judged = {
        "the program's output changed": output == call(before / "app", "--all").stdout,
        f"{found} names found, where {here.exist} exist": found >= least,
        f"{here.in_block} of {here.exist} lie in the block; not {here.astray}":
            here.in_block >= least,
        f"{here.in_order} of {here.in_block} are in order":
            here.in_order >= here.in_block - out_of_order,
        f"only {here.exist} names exist": here.exist >= 15}
    return [problem for problem, is_well in judged.items() if not is_well]
