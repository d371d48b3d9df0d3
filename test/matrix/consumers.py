"""The ways to link with a startup profile, each as a user would: from a profile and a program's
objects to a linked file, and what the consumer of the profile said of its names."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from programs import Program, call

_MATCHED = re.compile(r"(\d[\d,]*) of (\d[\d,]*) names? found")


class Matched(NamedTuple):
    """What a consumer says of a profile's names."""

    found: int
    names: int


def said(text: str) -> Matched:
    match = _MATCHED.search(text)
    assert match, f"no `n of m names found` in:\n{text}"
    return Matched(*(int(number.replace(",", "")) for number in match.groups()))


@dataclass(frozen=True)
class Tools:
    build: Path
    llvm: Path

    def frontload(self, *arguments):
        return call(self.build / "bin" / "frontload", *arguments)

    def lld(self, program: Program) -> list[str]:
        """The flags that make a compiler link with lld 22; gcc finds it by its name only."""
        if program.compiler == "gcc":
            return ["-fuse-ld=lld", f"-B{self.llvm}"]
        return [f"--ld-path={self.llvm / 'ld.lld'}"]

    def ld_frontload(self, program: Program) -> list[str]:
        if program.compiler == "gcc":
            return ["-fuse-ld=lld", f"-B{self.build / 'lib' / 'frontload' / 'gcc'}"]
        return [f"--ld-path={self.build / 'bin' / 'ld.frontload'}"]


@dataclass(frozen=True)
class Job:
    """One link with a profile."""

    tools: Tools
    program: Program
    profile: Path
    output: Path  # the file to make; what else is made is beside it
    flags: tuple[str, ...] = ()

    def link(self, *flags):
        return self.program.link(self.output, *self.flags, *flags)

    def order(self, linker: str, known_by: list) -> tuple[Path, Matched]:
        """An order file."""
        path = self.output.with_suffix(".order")
        made = self.tools.frontload("order", self.profile, "--linker", linker, "-o", path,
                                    *known_by)
        return path, said(made.stderr)

    def binary(self, *flags) -> list:
        """What `order` looks names up in: the program as it was linked last."""
        plain = self.output.with_suffix(".plain")
        self.program.link(plain, *self.flags, *flags)
        return ["--binary", plain]

    def objects(self) -> list:
        return ["--objects", *self.program.objects]


def _link_lld(job: Job) -> Matched:
    flags = job.tools.lld(job.program)
    order, matched = job.order("lld", job.binary(*flags))
    job.link(*flags, f"-Wl,--symbol-ordering-file={order}")
    return matched


def _link_frontload(job: Job) -> Matched:
    # A front is judged by its first-touch order, which the call graph of clang's PGO would change
    # for what all runs enter; the tests of links say how.
    return said(job.link(*job.tools.ld_frontload(job.program), "-Wl,--no-call-graph-profile-sort",
                         f"-Wl,--startup-profile={job.profile},--front-always").stderr)


def _link_gold(job: Job) -> Matched:
    plugin = job.tools.build / "lib" / "frontload-gold.so"
    return said(job.link("-fuse-ld=gold", f"-Wl,--plugin={plugin}",
                         f"-Wl,--plugin-opt=profile={job.profile}").stderr)


def _link_bfd(job: Job) -> Matched:
    flags = ["-fuse-ld=bfd"]
    # The objects tell more, but those of LTO nothing.
    script, matched = job.order("bfd", job.binary(*flags) if job.program.is_lto
                                else job.objects())
    job.link(*flags, f"-Wl,-T,{script}")
    return matched


@dataclass(frozen=True)
class Consumer:
    name: str
    link: Callable[[Job], Matched]
    # Whether it can order one of several functions of the same name and not the others.
    tells_namesakes: bool = True


LLD = Consumer("lld", _link_lld, tells_namesakes=False)
LD_FRONTLOAD = Consumer("ld.frontload", _link_frontload)
GOLD = Consumer("gold plugin", _link_gold)
BFD = Consumer("bfd", _link_bfd)
