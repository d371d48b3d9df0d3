"""The ways to link with a startup profile, each as a user would: from a profile and a program's
objects to a linked file, and how many of its names the consumer of the profile said it found."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from in_process import frontload
from linking import ALWAYS
from places import BUILD, LLVM
from programs import Program


def _found(text: str) -> int:
    match = re.search(r"(\d[\d,]*) of \d[\d,]* names? found", text)
    assert match, f"no `n of m names found` in:\n{text}"
    return int(match[1].replace(",", ""))


def lld(program: Program) -> list[str]:
    """The flags that make a compiler link with lld 22; gcc finds it by its name only."""
    if program.compiler == "gcc":
        return ["-fuse-ld=lld", f"-B{LLVM}"]
    return [f"--ld-path={LLVM / 'ld.lld'}"]


def ld_frontload(program: Program) -> list[str]:
    if program.compiler == "gcc":
        return ["-fuse-ld=lld", f"-B{BUILD / 'lib' / 'frontload' / 'gcc'}"]
    return [f"--ld-path={BUILD / 'bin' / 'ld.frontload'}"]


def plain(program: Program) -> list[str]:
    """The flags of a link that is given no profile: by lld, where it can."""
    return ["-fuse-ld=bfd"] if program.compiler == "gcc" and program.is_lto else lld(program)


@dataclass(frozen=True)
class Job:
    """One link with a profile."""

    program: Program
    profile: Path
    output: Path  # the file to make; what else is made is beside it
    flags: tuple[str, ...] = ()

    def link(self, *flags) -> str:
        return self.program.link(self.output, *self.flags, *flags).stderr

    def order(self, linker: str, *known_by) -> tuple[Path, int]:
        """An order file, of names in objects, or in the program as the flags link it."""
        path = self.output.with_suffix(".order")
        said = frontload("order", self.profile, "--linker", linker, "-o", path, *known_by)
        return path, _found(said)

    def binary(self, *flags) -> list:
        path = self.output.with_suffix(".plain")
        self.program.link(path, *self.flags, *flags)
        return ["--binary", path]


def _link_lld(job: Job) -> int:
    flags = lld(job.program)
    order, found = job.order("lld", *job.binary(*flags))
    job.link(*flags, f"-Wl,--symbol-ordering-file={order}")
    return found


def _link_frontload(job: Job) -> int:
    # A front is judged by its first-touch order, which the call graph of clang's PGO would change
    # for what all runs enter; the tests of links say how.
    return _found(job.link(*ld_frontload(job.program), "-Wl,--no-call-graph-profile-sort",
                           f"-Wl,--startup-profile={job.profile},{ALWAYS}"))


def _link_gold(job: Job) -> int:
    return _found(job.link("-fuse-ld=gold", f"-Wl,--plugin={BUILD / 'lib/frontload-gold.so'}",
                           f"-Wl,--plugin-opt=profile={job.profile}"))


def _link_bfd(job: Job) -> int:
    # The objects tell more, but those of LTO nothing.
    known_by = (job.binary("-fuse-ld=bfd") if job.program.is_lto
                else ["--objects", *job.program.objects])
    script, found = job.order("bfd", "--min-match=0", *known_by)
    job.link("-fuse-ld=bfd", f"-Wl,-T,{script}")
    return found


@dataclass(frozen=True)
class Consumer:
    name: str
    link: Callable[[Job], int]
    # Whether it can order one of several functions of the same name and not the others.
    tells_namesakes: bool = True


LLD = Consumer("lld", _link_lld, tells_namesakes=False)
LD_FRONTLOAD = Consumer("ld.frontload", _link_frontload)
GOLD = Consumer("gold plugin", _link_gold)
BFD = Consumer("bfd", _link_bfd)
