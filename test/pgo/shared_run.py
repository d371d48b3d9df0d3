"""The two-pass PGO workflow as docs/how-to/pgo.md has it, with the small program of this folder."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from linking import SECTION_FLAGS, Image
from places import BUILD, LLVM

TOOL = Path(__file__).parent / "programs" / "tool.c"
FLAGS = ("-O2", "-g0", *SECTION_FLAGS)
APART = "-Wl,-z,keep-text-section-prefix"
DRIVERS = {"gcc": ("gcc", "-B", BUILD / "lib/frontload/gcc", "-fuse-ld=lld"),
           "clang": (LLVM / "clang", f"--ld-path={BUILD / 'bin/ld.frontload'}")}


def do(*command, code: int = 0, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([os.fspath(word) for word in command], capture_output=True, text=True,
                          **options)
    assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
    return done


def frontload(*arguments, **options) -> subprocess.CompletedProcess:
    return do(BUILD / "bin/frontload", *arguments, **options)


def function_names(profile: Path) -> list[str]:
    """The functions that a startup profile names, in order."""
    lines = (line.split("\t") for line in profile.read_text().splitlines())
    return [fields[5] for fields in lines if fields[0] == "function"]


@dataclass
class SharedRun:
    """A folder in which one run of the instrumented program has made both profiles."""

    folder: Path
    compiler: str

    @property
    def startup(self) -> Path:
        return self.folder / "tool.startup"

    @property
    def use_flags(self) -> tuple[str, ...]:
        if self.compiler == "clang":
            return f"-fprofile-use={self.folder}/tool.profdata", "-fsplit-machine-functions"
        return (f"-fprofile-use={self.folder}/counts", "-fprofile-reorder-functions",
                "-freorder-blocks-and-partition")

    def compile(self, *flags, source: Path = TOOL) -> subprocess.CompletedProcess:
        """The object tool.o; gcc finds the profile by its name and folder."""
        return do(DRIVERS[self.compiler][0], *FLAGS, *flags, "-c", source, "-o", "tool.o",
                  cwd=self.folder)

    def link(self, name: str, *flags) -> Image:
        do(*DRIVERS[self.compiler], "tool.o", *flags, "-o", name, cwd=self.folder)
        return Image(self.folder / name)

    def link_final(self, name: str, profile: Path, *flags: str) -> Image:
        """The program compiled with the PGO profile (tool.o) and linked with a front."""
        return self.link(name, *flags, APART, f"-Wl,--startup-profile={profile},--min-match=90")

    def record_final(self, program: str, *arguments) -> Path:
        """The startup profile of a run of the final program."""
        traces, profile = (self.folder / f"{program}.final.{end}" for end in ("traces", "startup"))
        frontload("record", "-o", traces, "--", self.folder / program, *arguments)
        frontload("profile", traces, "-o", profile)
        return profile


def run_once(folder: Path, compiler: str, *arguments: str, flags: tuple = ()) -> SharedRun:
    """The first pass: compiled to count, run under the recorder, and both profiles made of it."""
    run = SharedRun(folder, compiler)
    run.compile("-fprofile-generate", *flags)
    run.link("tool.counting", "-fprofile-generate", *flags)
    counts = folder / "counts"
    counts.mkdir()
    frontload("record", "-o", folder / "traces", "--", folder / "tool.counting", *arguments,
              env={**os.environ, "LLVM_PROFILE_FILE": f"{counts}/%p.profraw",
                   "GCOV_PREFIX": str(counts)})
    if compiler == "clang":
        do(LLVM / "llvm-profdata", "merge", counts, "-o", folder / "tool.profdata")
    else:
        (written,) = counts.rglob("*.gcda")
        written.rename(counts / re.sub("/", "#", str(folder / "tool.gcda")))
    # One is told, so that a name that is missing can be explained.
    said = frontload("profile", folder / "traces", "-o", run.startup).stderr
    assert "left out what only that build has" in said
    return run
