"""The cells of the matrix: a program compiled in some way, and a consumer of its startup profile.

Each cell is linked with a profile that was recorded from version 1: version 1, or version 2. What
has to hold of both:

- nearly every function of the profile that the linked file has (layout.py) was found and lies in
  the block, in order: the shares below. The other names of a profile are gone, and cannot be found;
- the consumer says that it found at least as many names as exist, by the same share;
- the program writes what it should.
"""

import functools
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import layout
from compiled import command_key, kept
from consumers import Consumer, Job, Matched, Tools
from places import ROOT
from programs import Builds, Optimisation, Program

MIN_FOUND = 0.98  # of the names that exist
# Several names of a source file may lie in one section, and namesakes may stand for each other, so
# that the order is not quite that of the profile.
MIN_IN_ORDER = 0.97

_HEAD = ("compiled", "linker", "version", "names found", "existing in block", "in order", "output",
         "")


@dataclass(frozen=True)
class Result:
    """One link."""

    compiled: str
    linker: str
    version: int
    found: int  # as the consumer says, of so many names
    names: int
    exist: int  # of the functions that can be moved: those that the linked file has
    in_block: int
    in_order: int
    output_unchanged: bool
    astray: list[str]
    gone: list[str]

    def problems(self) -> list[str]:
        """What does not hold; nothing if all is well."""
        return list(self._problems())

    def _problems(self) -> Iterator[str]:
        if not self.output_unchanged:
            yield "the program's output changed"
        if self.found < MIN_FOUND * self.exist:
            yield f"says that {self.found} names were found, where {self.exist} exist"
        if self.in_block < MIN_FOUND * self.exist:
            yield f"{self.in_block} of {self.exist} lie in the block; not {self.astray}"
        if self.in_order < MIN_IN_ORDER * self.in_block - 2:
            yield f"{self.in_order} of {self.exist} are in order"

    def row(self) -> tuple[str, ...]:
        def share(part: int, whole: int) -> str:
            return f"{part}/{whole} {100 * part / whole:.1f}%"
        return (self.compiled, self.linker, str(self.version), share(self.found, self.names),
                share(self.in_block, self.exist), share(self.in_order, self.exist),
                "same" if self.output_unchanged else "changed", "FAILED" * bool(self.problems()))


def table(results: Iterable[Result]) -> list[str]:
    rows = [_HEAD, *(result.row() for result in results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
            for row in rows]


def judge(compiled: str, consumer: Consumer, version: int, linked: Path, profile: Path,
          matched: Matched, expected: str) -> Result:
    verdict = layout.examine(linked, profile, consumer.tells_namesakes)
    ran = subprocess.run([linked, "--all"], capture_output=True, text=True, timeout=60)
    return Result(compiled, consumer.name, version, *matched, verdict.exist, verdict.in_block,
                  verdict.in_order, ran.returncode == 0 and ran.stdout == expected,
                  verdict.astray, verdict.gone)


class Matrix:
    """What the cells share: each program is compiled once, and recorded once by what is built."""

    def __init__(self, folder: Path, tools: Tools):
        self._folder = folder
        self.tools = tools
        self.builds = Builds(tools.llvm)
        self.record = functools.cache(self._record)
        self.results: list[Result] = []

    def new_folder(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._folder))

    def plain(self, program: Program) -> list[str]:
        """The flags of a link that is given no profile: by lld, where it can."""
        if program.compiler == "gcc" and program.is_lto:
            return ["-fuse-ld=bfd"]
        return self.tools.lld(program)

    def profile(self, compiler: str, optimisation: Optimisation) -> Path:
        """The startup profile of version 1 of the C++ program. Where there are objects, and a map
        of lld that names them, local functions are told apart by these; elsewhere, and without
        optimisation, by their source files."""
        has_map = optimisation.name != "O0" and not optimisation.is_lto
        return self.record(self.builds.program(compiler, optimisation, 1), has_map)

    def _record(self, program: Program, has_map: bool = False) -> Path:
        def make(folder: Path) -> None:
            app, traces, link_map = folder / "tabula", folder / "traces", folder / "map"
            program.link(app, *self.plain(program), *[f"-Wl,-Map={link_map}"] * has_map)
            self.tools.frontload("record", "-o", traces, "--", app)
            self.tools.frontload("profile", traces, "-o", folder / "app.startup",
                                 *["--map", link_map] * has_map)

        folder = kept(make, "recorded", *command_key([*program.link_command, *self.plain(program)]),
                      *program.objects, has_map, self.tools.build / "bin",
                      ROOT / "scripts" / "frontload")
        return folder / "app.startup"

    def link(self, compiled: str, program: Program, consumer: Consumer, version: int,
             profile: Path, flags: tuple[str, ...] = ()) -> Result:
        """Links with a profile, and judges that."""
        job = Job(self.tools, program, profile, self.new_folder() / "program", flags)
        matched = consumer.link(job)
        result = judge(compiled, consumer, version, job.output, profile, matched,
                       program.expected)
        self.results.append(result)
        return result
