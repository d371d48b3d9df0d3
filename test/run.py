#!/usr/bin/env python3
"""Runs the tests of a build: what `scripts/test` does when everything is installed.

    scripts/test                    what protects against a wrong change
    scripts/test --changed [REV]    of these, what the rooms are tested by that were changed since
                                    REV (default: HEAD, so what is not committed)
    scripts/test --all              everything: also the sanitizers, the fuzzer, slow tests, the
                                    whole matrix, and mutants
    scripts/test NAME...            these tests: files or folders of test/, and arguments of pytest

The last lines say what passed, what was skipped, and what was not run.
"""

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from places import ROOT, prepare_environment

_GIB = 1 << 30

# Which tests a change of a folder may break, besides `style` and `rooms`; where nothing is said of
# a file, all. Folders of test/; `ctest` are the units in C++ and the inputs of the fuzzer.
_LINK = ("ctest", "link", "pgo", "matrix", "random_fronts", "guarantee", "prefetch", "python")
TESTED_BY = {
    "instrument/runtime": ("runtime", "scenarios", "wrapper", "cross"),
    "instrument/tracer": ("ctest", "tracer", "scenarios", "python"),
    "instrument/valgrind": ("ctest", "valgrind", "scenarios", "python"),
    "instrument/prefetch": ("ctest", "prefetch", "link/test_prediction.py", "python"),
    "instrument/launcher": ("prefetch", "python"),
    "lldplugin/gold": ("ctest", "gold"),
    "lldplugin/lld": _LINK,
    "lldplugin/plan": (*_LINK, "gold"),
    "lldplugin/startup_set": (*_LINK, "gold"),
    "lldplugin/names": (*_LINK, "gold"),
    "tools/cc": ("ctest", "wrapper", "cmake", "examples", "python"),
    "tools/lazyfs": ("python",),
    "tools/predict": ("ctest", "python", "link", "guarantee"),
    "tools/resolve": ("ctest", "python"),
    "scripts/frontload": ("python", "report", "docs", "prefetch", "examples"),
    "packaging": ("packaging",),
    "cmake": ("cmake", "pgo", "examples", "packaging"),
    "examples": ("examples", "docs"),
    "docs": ("docs",),
    "bench": ("python", "docs"),
    "README.md": ("docs",),
    "CONTRIBUTING.md": ("docs",),
}


def jobs() -> int:
    """Two tests more at a time than there are processors, because some wait for a disk or for one
    another; and no more than memory has room for."""
    processors = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    room = max(1, memory // (2 * _GIB))
    return int(os.environ.get("FRONTLOAD_JOBS") or min(processors + 2, room))


class Report:
    """What was run, and what became of it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.failed = False

    def run(self, what: str, *command, **environment) -> None:
        begin = time.monotonic()
        code = subprocess.run([os.fspath(word) for word in command], cwd=ROOT,
                              env={**os.environ, **environment}).returncode
        self.failed |= code != 0
        self.lines.append(f"{'failed' if code else 'passed'} in {time.monotonic() - begin:4.0f} s: "
                          f"{what}")

    def not_run(self, what: str) -> None:
        self.lines.append(f"not run: {what}")


def changed_files(revision: str) -> list[str]:
    def git(*words: str) -> list[str]:
        return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True,
                              text=True).stdout.splitlines()

    return [*git("diff", "--name-only", revision, "--"),
            *git("ls-files", "--others", "--exclude-standard")]


def tests_of(files: list[str]) -> set[str] | None:
    """The tests that a change of these files may break; None for all."""
    tests = {"rooms"}
    for file in files:
        path = Path(file)
        if path.parts[0] == "test" and len(path.parts) > 2:
            tests.add({"unit": "ctest", "fuzz": "ctest"}.get(path.parts[1], path.parts[1]))
            continue
        known = next((folder for folder in (file, *map(str, path.parents)) if folder in TESTED_BY),
                     None)
        if known is None:
            return None
        tests.update(TESTED_BY[known])
    return tests


def run_suite(report: Report, build: Path, names: list[str], **environment) -> None:
    """Units, inputs of the fuzzer and style; then all that runs programs, in one session."""
    if not names or "ctest" in names:
        report.run("units, inputs of the fuzzer, style", "ctest", "--test-dir", build,
                   "--output-on-failure", "--parallel", str(jobs()))
    is_here = (ROOT / "test").joinpath
    paths = [f"test/{name}" if is_here(name.partition("::")[0]).exists() else name
             for name in names if name != "ctest"] or ([] if names else ["test"])
    if paths:
        report.run("pytest " + " ".join(paths), sys.executable, "-m", "pytest",
                   "-n", str(jobs()), "--no-loadscope-reorder", *paths,
                   FRONTLOAD_BUILD=str(build.absolute()), **environment)


def run_all(report: Report, build: Path) -> None:
    run_suite(report, build, [], FRONTLOAD_TEST="all")
    # As ci compiles several files as one, a file may lack what another one includes.
    report.run("each file compiled by itself", "sh", "-c", f"cmake --preset apart >/dev/null "
               f"-DFRONTLOAD_PYTHON='{sys.executable}' -DFRONTLOAD_BUILD_TESTS=ON && "
               "cmake --build build/apart")
    report.run("sanitizers", ROOT / "scripts/sanitize")
    report.run("fuzzer, 60 s for each target", ROOT / "scripts/fuzz", "60")
    report.run("mutants", sys.executable, ROOT / "test/mutants/run.py",
               *sorted((ROOT / "test/mutants").glob("*.toml")))
    packages = ROOT / "build/packages"
    if os.geteuid() == 0 and shutil.which("mmdebstrap") and packages.is_dir():
        report.run("packages, in clean systems", ROOT / "test/packaging/anywhere", packages)
    else:
        report.not_run("packages, in clean systems (scripts/package, mmdebstrap, root)")
    if shutil.which("qemu-system-aarch64"):
        report.run("AArch64, in a machine", sys.executable, ROOT / "test/aarch64/run.py")
    else:
        report.not_run("AArch64, in a machine (scripts/setup machine)")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test", allow_abbrev=False,
                                     description="Installs what is needed, builds, and tests.")
    parser.add_argument("--all", action="store_true", help="everything there is, in hours")
    parser.add_argument("--changed", nargs="?", const="HEAD", metavar="REV",
                        help="what may be broken by the changes since REV (default: HEAD)")
    parser.add_argument("--list", action="store_true", help="only print which tests these are")
    parser.add_argument("--build", type=Path, default=ROOT / "build", metavar="DIR",
                        help="the build that is tested (default: build)")
    options, names = parser.parse_known_args()
    if options.changed:
        chosen = tests_of(changed_files(options.changed))
        names = sorted(chosen) if chosen else []
    if options.list:
        print(*(names or ["all"]), sep="\n")
        return 0
    prepare_environment()
    report = Report()
    if options.all:
        run_all(report, options.build)
    else:
        run_suite(report, options.build, names)
        if not names:
            report.not_run("slow tests, sanitizers, fuzzer, mutants, whole matrix "
                           "(scripts/test --all)")
    print(*report.lines, sep="\n")
    return int(report.failed)


if __name__ == "__main__":
    sys.exit(main())
