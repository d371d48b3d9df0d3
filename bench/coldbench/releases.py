"""bench/releases: what a startup profile is worth after a hundred releases of a program.

The published versions of a Rust program are built one after the other, as cargo builds them, and
linked with a front by these profiles:

never      the one that was recorded of the first release
before     recorded of the release before, by breakpoints
sampled    the first one, renewed by samples of the releases before: what starts in the field, which
           have a front by the profile of their release, tell by `frontload record --sample`
caught up  that one, renewed by samples of this release as well
canary     made of samples of a canary of the release before, whose functions begin at multiples of
           4,096 so that no two share a page, with the order of its pages
candidate  the same of a canary of this release: of its candidate
anew       recorded of this very release, by breakpoints

A release can be shipped by `sampled` and by `canary`, and by `candidate` if some users start its
candidate before. What its starts enter that no older release had, only the last and `anew` know.

The profile `anew` is the measure. Coverage is the share of its names that another profile finds in
this link, whichever name that has for them; faults are predicted (`frontload predict`) for the
starts of this release, recorded with their data.

A program is described by a folder in bench/released that is called like the crate: `versions` has a
version on each line, the oldest first; `starts` the arguments of one start on each. Starts run in
that folder. What a release has told is kept in the work folder, so a run that was interrupted goes
on where it was.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from frontload.base import console, errors
from frontload.base.files import parse_json, write_if_changed
from frontload.profile import format as profile
from frontload.profile import resolver, trace

from coldbench import command
from coldbench.show import document, releases_picture
from coldbench.variants.run_words import environment, run_words

NEVER, BEFORE, SAMPLED, CAUGHT_UP, CANARY, CANDIDATE, ANEW = PROFILES = (
    "never", "before", "sampled", "caught up", "canary", "candidate", "anew")
PLAIN = "plain"
CRATE = "just"
_DESCRIBED = command.ROOT / "bench" / "released"
_DEVICE = "hdd"
_FIGURES = ("major_faults", "read_bytes", "requests")
_ALIGNMENT = 4096  # of the functions of a canary
_BUILDS = 6  # of the newest releases, whose samples a renewal goes by
_LAST = 10  # releases over which the end of a line is averaged
# What is wanted at the end.
LEAST_COVERAGE, MOST_FAULTS = 0.95, 1.1


def parse(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/releases", description="Build the releases of a program, and compare a profile "
        "of the first one, the same renewed by samples, and one that is recorded anew each time.")
    parser.add_argument("crate", metavar="CRATE", nargs="?", default=CRATE, type=Path,
                        help="a folder in bench/released, or of your own (default %(default)s)")
    parser.add_argument("--versions", metavar="N", type=command.at_least(2),
                        help="the oldest N releases only (default: all)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the objects of each release, some 100 MB")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="where the result goes (default bench/releases.json in --build-dir)")
    parser.add_argument("--picture", metavar="FILE.svg", type=Path,
                        help="draw coverage and faults by release there")
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="where releases are built (default: bench/releases in --build-dir)")
    command.add_build_options(parser)
    return parser.parse_args(argv)


@dataclass(frozen=True)
class Described:
    """A program whose releases are built."""

    name: str
    folder: Path
    versions: tuple[str, ...]
    starts: tuple[tuple[str, ...], ...]


def described(crate: Path) -> Described:
    folder = crate if crate.is_dir() else _DESCRIBED / crate
    try:
        versions, starts = ((folder / name).read_text().splitlines()
                            for name in ("versions", "starts"))
    except FileNotFoundError as missing:
        raise errors.Failure(f"{crate}: has no file {Path(missing.filename).name}",
                             note="name a folder of bench/released, or one with `versions` and "
                             "`starts`") from missing
    return Described(folder.resolve().name, folder.resolve(), tuple(versions),
                     tuple(tuple(start.split()) for start in starts))


class Release:
    """One version: its objects, its programs, and what was recorded of these."""

    def __init__(self, program: Described, version: str, work: Path, build: Path, llvm: Path):
        self.version, self.folder = version, work / version
        self._program, self._work, self._llvm = program, work, llvm
        self._frontload, self._linker = build / "bin" / "frontload", build / "bin" / "ld.frontload"

    @property
    def objects(self) -> Path:
        return self.folder / "link"

    @property
    def samples(self) -> Path:
        return self.folder / "samples"

    def program(self, variant: str) -> Path:
        return self.folder / variant / self._program.name

    def startup(self, name: str) -> Path:
        return self.folder / f"{name}.startup"

    @property
    def figures(self) -> Path:
        return self.folder / "figures.json"

    def build(self) -> bool:
        """Has cargo compile it, and keeps what its program is linked of; whether that works with
        the Rust of today. What releases share is compiled once."""
        if (self.objects / "response.txt").exists():
            return True
        refused = self.folder / "refused"
        if refused.exists():
            return False
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = self.folder / "link.tar"
        # Names that tell instances of generic functions apart in the next release (docs/names.md).
        flags = ["-Csymbol-mangling-version=v0", f"-Clinker={self._llvm}/bin/clang",
                 f"-Clink-arg=--ld-path={self._llvm}/bin/ld.lld"]
        settings = {"OPT_LEVEL": "1", "LTO": "off", "CODEGEN_UNITS": "16", "STRIP": "none",
                    "DEBUG": "false"}
        # lld keeps what it links in LLD_REPRODUCE. The program is linked last.
        variables = {"RUSTFLAGS": " ".join(flags), "LLD_REPRODUCE": str(kept),
                     "CARGO_TARGET_DIR": str(self._work / "target"),
                     **{f"CARGO_PROFILE_RELEASE_{name}": value
                        for name, value in settings.items()}}
        # With the newest dependencies, which releases share; where these do not fit any more,
        # with those that the release was published with.
        for locked in ([], ["--locked"]):
            try:
                with environment(variables):
                    run_words(["cargo", "install", "--quiet", "--no-track", "--force", "--root",
                               self.folder / "installed", *locked, "--bin", self._program.name,
                               f"{self._program.name}@{self.version}"], self.folder)
                break
            except errors.Failure as failure:
                if "could not compile" not in (failure.note or ""):
                    raise  # it may be the network
                if locked:
                    refused.write_text(failure.note)
                    return False
        shutil.rmtree(self.folder / "installed")
        self._unpack(kept)
        return True

    def _unpack(self, kept: Path) -> None:
        part = self.folder / "link.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        run_words(["tar", "xf", kept, "-C", part], self.folder)
        inside, = part.iterdir()
        inside.rename(self.objects)
        part.rmdir()
        kept.unlink()

    def link(self, variant: str, startup: Path | None = None) -> Path:
        """The program, with a front if there is a profile for it."""
        path = self.program(variant)
        path.parent.mkdir(exist_ok=True)
        linker = self._linker if startup else self._llvm / "bin" / "ld.lld"
        # What lld has kept is linked by paths that begin in the folder of the objects.
        front = [f"--startup-profile={os.path.relpath(startup, self.objects)}", "--min-match=0",
                 "--front-always"] if startup else []
        run_words([linker, "@response.txt", "-o", path, *front], self.objects)
        return path

    def link_canary(self) -> Path:
        """The program from copies of the objects in which functions are aligned."""
        path = self.program("aligned")
        path.parent.mkdir(exist_ok=True)
        copies = self.folder / "aligned.objects"
        shutil.rmtree(copies, ignore_errors=True)
        copies.mkdir()
        words = (self.objects / "response.txt").read_text().splitlines()
        for number, word in enumerate(words):
            if word.endswith((".o", ".rlib")):
                copy = copies / f"{number}-{Path(word).name}"
                run_words(["objcopy", "--wildcard", f"--set-section-alignment=.text.*={_ALIGNMENT}",
                           word, copy], self.objects)
                words[number] = os.path.relpath(copy, self.objects)
        (copies / "response.txt").write_text("\n".join(words))
        run_words([self._llvm / "bin" / "ld.lld", f"@{copies / 'response.txt'}", "-o", path],
                  self.objects)
        shutil.rmtree(copies)
        return path

    def record(self, program: Path, folder: str, *options: str) -> Path:
        """What each start of the program touches."""
        path = self.folder / folder
        shutil.rmtree(path, ignore_errors=True)
        for start in self._program.starts:
            run_words([self._frontload, "record", *options, "-o", path, "--", program, *start],
                      self._program.folder)
        return path

    def profile(self, name: str, *words: os.PathLike | str) -> Path:
        run_words([self._frontload, "profile", *words, "--program", self._program.name, "-o",
                   self.startup(name)], self.folder)
        return self.startup(name)

    def addresses(self, startup: Path) -> set[int]:
        """What a link finds of a profile in this release, as addresses in the plain program."""
        return {place.value for place in
                resolver.resolve(str(startup), [str(self.program(PLAIN))]).places}

    def predicted(self, traces: Path, variants: Sequence[str],
                  *options: str) -> dict[str, dict[str, float]]:
        """The figures of the mean start, of each variant."""
        result = self.folder / "predicted.json"
        mine = [path for path in trace.find(traces)
                if Path(path).name.startswith(f"{self._program.name}.")]
        run_words([self._frontload, "predict", *mine, "--recorded", self.program(PLAIN),
                   *(f"--variant={each}={self.program(each)}" for each in variants),
                   f"--device={_DEVICE}", f"--json={result}", *options], self.folder)
        told = parse_json(result.read_bytes(), str(result))["predictions"]
        return {variant: {figure: statistics.fmean(
            each["devices"][_DEVICE][figure] for each in told if each["variant"] == variant)
            for figure in _FIGURES} for variant in variants}


class Replay:
    """Release after release."""

    def __init__(self, program: Described, args: argparse.Namespace,
                 progress: Callable[[str], None]):
        self._build = args.build_dir.resolve()
        work = (args.work_dir or self._build / "bench" / "releases").resolve() / program.name
        self._releases = [Release(program, version, work, self._build, args.llvm)
                          for version in program.versions[:args.versions]]
        self._keep, self._progress = args.keep, progress

    def measure(self) -> tuple[list[dict], list[str]]:
        """The figures of each release, and the versions that do not build."""
        rows, refused, before = [], [], []
        for number, release in enumerate(self._releases):
            self._progress(f"{release.version}: {number + 1} of {len(self._releases)}")
            if not release.figures.exists():
                if not release.build():
                    refused.append(release.version)
                    continue
                release.figures.write_text(json.dumps(self._measured(release, before)))
                if not self._keep:
                    shutil.rmtree(release.objects)
            rows.append(json.loads(release.figures.read_text()))
            before.append(release)
        return rows, refused

    def _measured(self, release: Release, before: Sequence[Release]) -> dict:
        plain = release.link(PLAIN)
        anew = release.profile(ANEW, release.record(plain, "traces"))
        first, latest = (before[0], before[-1]) if before else (release, release)
        startups = {NEVER: first.startup(ANEW), BEFORE: latest.startup(ANEW),
                    SAMPLED: latest.startup(CAUGHT_UP) if before else anew,
                    CANARY: latest.startup(CANDIDATE) if before else anew, ANEW: anew}
        release.link(SAMPLED, startups[SAMPLED])
        release.record(release.program(SAMPLED), "samples", "--sample")
        startups[CAUGHT_UP] = release.profile(
            CAUGHT_UP, *(each.samples for each in [*before, release][-_BUILDS:]), "--known",
            startups[SAMPLED])
        startups[CANDIDATE] = release.profile(
            CANDIDATE, release.record(release.link_canary(), "canary.samples", "--sample",
                                      "--page-order"))
        for name in PROFILES:
            if name != SAMPLED:
                release.link(name, startups[name])
        data = release.record(plain, "data", "--data")
        figures = release.predicted(data, [PLAIN, *PROFILES])
        prefetched = release.predicted(data, PROFILES, "--prefetch=front")
        wanted = release.addresses(anew)
        found = {name: release.addresses(startup) for name, startup in startups.items()}
        row = {"version": release.version, PLAIN: figures[PLAIN]}
        for name in PROFILES:
            row[name] = {**figures[name], "prefetched_faults": prefetched[name]["major_faults"],
                         "names": len(profile.read(startups[name]).touches),
                         "coverage": len(found[name] & wanted) / len(wanted),
                         "others": len(found[name] - wanted)}
        return row


def last(rows: Sequence[dict]) -> dict:
    """What holds at the end: means over the last releases, of which faults are counts."""
    end = rows[-_LAST:]
    faults = {name: statistics.fmean(row[name]["major_faults"] for row in end)
              for name in (PLAIN, *PROFILES)}
    return {"releases": len(end), "faults": faults,
            "coverage": {name: statistics.fmean(row[name]["coverage"] for row in end)
                         for name in PROFILES},
            "prefetched_faults": {name: statistics.fmean(row[name]["prefetched_faults"]
                                                         for row in end) for name in PROFILES},
            # One fault instead of none is as much as two instead of one.
            "times_anew": {name: max(faults[name], 1) / max(faults[ANEW], 1)
                           for name in PROFILES}}


def show(rows: Sequence[dict]) -> None:
    table = console.table("release", "without\na front", *PROFILES,
                          numbers=range(1, 2 + len(PROFILES)))
    for row in rows:
        console.add_row(table, row["version"], f"{row[PLAIN]['major_faults']:.1f}", *(
            f"{row[name]['coverage']:.1%}, {row[name]['major_faults']:.1f}" for name in PROFILES))
    console.show(table)
    print("names found, and major faults")
    end = last(rows)
    for name in PROFILES[:-1]:
        print(f"{name}, the last {end['releases']} releases: {end['coverage'][name]:.1%} of the "
              f"names, {end['times_anew'][name]:.2f} times the faults of recording anew")
    for name in (SAMPLED, CANARY, CANDIDATE):
        good = end["coverage"][name] >= LEAST_COVERAGE and end["times_anew"][name] <= MOST_FAULTS
        print(f"{LEAST_COVERAGE:.0%} and {MOST_FAULTS} times, which are wanted, are "
              f"{'reached' if good else 'missed'} by {name}")


def run(args: argparse.Namespace) -> int:
    program = described(args.crate)
    os.environ["FRONTLOAD_BINDIR"] = str((args.build_dir / "bin").resolve())
    with command.progress() as progress:
        rows, refused = Replay(program, args, progress).measure()
    show(rows)
    if refused:
        print(f"do not build with this Rust: {', '.join(refused)}")
    result = document.head(document.RELEASES, crate=program.name, rows=rows, refused=refused,
                           end=last(rows))
    file = args.json or args.build_dir / "bench" / "releases.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    document.write(file, result)
    if args.picture:
        write_if_changed(args.picture, releases_picture.draw(result))
    print(f"the result is in {file}")
    return errors.EXIT_OK


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    return command.end(lambda: run(args), "bench/releases")


if __name__ == "__main__":
    sys.exit(main())
