#!/usr/bin/env python3
"""Puts one small fault after the other into the sources, and looks whether a test notices.

    test/mutants/run.py                        all of mutants.toml, in a copy of this checkout
    test/mutants/run.py --tree OTHER -o TABLE  those in another checkout, as of an older version
    test/mutants/run.py FILE...                those of other files, such as recording.toml

A mutant is `old`, a text that must be in the sources exactly once, `new`, which takes its place,
and `tests`, of which one should fail then: files of test/ without their end, with `::` and a
function for only that one, or `unit` for the GoogleTests. A file may say what has to be built for
its tests (`build`). The table of a mutant is named after the fault that it lets happen, and the
recorder in which it does. A mutant is *dead* if a test fails, and has *survived* if none does: then
nothing tests that text, or the fault is none (`x < n` for `x != n` at the end of a loop). Which
were dead has to stay dead: run it before and after a change of the tests, and compare.

Nothing is done in the checkout itself: what git tracks of it is copied, and built there, with
ccache where it is installed. Tests that fail without any fault are told, and left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tomllib
from mutated import ROOT, Sources, words

_SKIPPED = (0, 5)  # of pytest: passed, no tests
_SECONDS = 600  # a test that takes longer hangs


class Copy:
    """A copy of a checkout, and its build."""

    def __init__(self, tree: Path, folder: Path, python: Path, llvm: Path):
        self.root, self.build = folder / "tree", folder / "tree" / "build"
        self.python, self.llvm = python, llvm
        files = subprocess.run(["git", "ls-files", "-z"], cwd=tree, text=True, check=True,
                               capture_output=True).stdout.split("\0")
        for name in filter(None, files):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(tree / name, self.root / name, follow_symlinks=False)
        self.environment = {
            **os.environ, "FRONTLOAD_BUILD": str(self.build), "FRONTLOAD_LLVM": str(llvm),
            "PYTHONPATH": str(self.root / "scripts"), "PYTHONDONTWRITEBYTECODE": "1",
            "CCACHE_BASEDIR": str(self.root), "CCACHE_NOHASHDIR": "1"}
        self.is_stale = False
        # The list of files is that of the original, which git knows.
        self.sources = Sources(tree)

    def configure(self, targets: list[str]) -> None:
        """Builds these targets, or all. What is left without a use is only a warning, so that a
        fault is not taken for dead because of that."""
        launcher = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
        self.call("cmake", "--preset", "ci", f"-DFRONTLOAD_PYTHON={self.python}",
                  "-DFRONTLOAD_BUILD_TESTS=ON", "-DFRONTLOAD_WERROR=OFF", "-DFRONTLOAD_UNITY=OFF",
                  *(launcher if shutil.which("ccache") else []))
        self.call("ninja", "-C", self.build, *targets)
        listed = self.call("ninja", "-C", self.build, "-t", "targets", "all")
        self.linked = targets or [line.split(":")[0] for line in listed.splitlines()
                                  if "_LINKER__" in line.partition(": ")[2]]

    def call(self, *command) -> str:
        done = subprocess.run([os.fspath(word) for word in command], cwd=self.root, text=True,
                              env=self.environment, capture_output=True)
        if done.returncode:
            sys.exit(f"{command}: failed\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def rebuild(self, units: bool) -> bool:
        """Builds the programs and libraries; returns whether that went well. The units are built
        only where they are asked, since all that they test is compiled for them once more."""
        wanted = [name for name in self.linked if not name.startswith("test/fuzz/") and (
            units or ("_test" not in name and "checked" not in name))]
        self.is_stale = False
        return subprocess.run(["ninja", "-C", self.build, *wanted], env=self.environment,
                              capture_output=True).returncode == 0

    def noticed_by(self, tests: list[str]) -> str | None:
        """The first of the tests that fails."""
        return next((test for test in tests if not self._passes(test)), None)

    def _passes(self, test: str) -> bool:
        if test == "unit":
            return all(self._run(self.build / "bin" / name) == 0
                       for name in ("plan_test", "prediction_test"))
        name, separator, function = test.partition("::")
        return self._run(self.python, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                         f"{self.root}/test/{name}.py{separator}{function}") in _SKIPPED

    def _run(self, *command) -> int:
        with subprocess.Popen([os.fspath(word) for word in command], cwd=self.build,
                              env=self.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as process:
            try:
                return process.wait(_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                return -1


def judge(copy: Copy, mutant: dict, left_out: list[str]) -> tuple[str, str]:
    """What became of a mutant, and where it was."""
    places = copy.sources.places(mutant["old"])
    if len(places) != 1:
        return f"ERROR: found {len(places)} times", ""
    (name, start, end), = places
    path, text = copy.root / name, copy.sources.texts[name]
    path.write_text(text[:start] + mutant["new"] + text[end:])
    is_built = not name.endswith(".py")
    try:
        if (is_built or copy.is_stale) and not copy.rebuild("unit" in mutant["tests"]):
            return "dead (does not build)", name
        by = copy.noticed_by([test for test in mutant["tests"] if test not in left_out])
        return f"dead by {by}" if by else "SURVIVED", name
    finally:
        path.write_text(text)
        copy.is_stale |= is_built  # the next mutant builds this, too


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", type=Path,
                        default=[Path(__file__).parent / "mutants.toml"],
                        help="the mutants (default: mutants.toml)")
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout (default: this one)")
    parser.add_argument("-o", "--output", type=Path, help="the file for the table")
    parser.add_argument("--python", type=Path, default=sys.executable,
                        help="a Python that has what the tests need (default: this one)")
    parser.add_argument("--llvm", type=Path, default="/usr/lib/llvm-22/bin")
    parser.add_argument("--folder", type=Path, help="where the copy is made, and kept")
    parser.add_argument("--trust", action="store_true",
                        help="do not look first whether the tests pass without any fault")
    parser.add_argument("--check", action="store_true",
                        help="only look whether each text is in the sources exactly once")
    options = parser.parse_args()
    given = [tomllib.loads(file.read_text()) for file in options.files]
    parts = [each.pop("build", []) for each in given]
    mutants = [{"what": ": ".join(filter(None, (fault, recorder))), **mutant}
               for each in given for fault, listed in each.items()
               for recorder, own in (listed.items() if isinstance(listed, dict) else [("", listed)])
               for mutant in own]
    targets = [target for part in parts for target in part] if all(parts) else []
    if options.check:
        sources = Sources(options.tree)
        lost = [m for m in mutants if len(sources.places(m["old"])) != 1]
        for mutant in lost:
            print(f"found {len(sources.places(mutant['old']))} times: {words(mutant['old'])}")
        return bool(lost)
    folder = options.folder or Path(tempfile.mkdtemp(prefix="frontload-mutants."))
    copy = Copy(options.tree, folder, options.python.absolute(), options.llvm)
    copy.configure(targets)
    print(f"built in {copy.build}", flush=True)
    tests = sorted({test for mutant in mutants for test in mutant["tests"]})
    fails = [] if options.trust else [test for test in tests if copy.noticed_by([test])]
    print(f"fail without any fault, and are left out: {' '.join(fails) or 'none'}", flush=True)
    rows = []
    for number, mutant in enumerate(mutants, 1):
        verdict, place = judge(copy, mutant, fails)
        rows.append((verdict, place, words(mutant["old"]), words(mutant["new"]), mutant["what"]))
        print(f"{number}/{len(mutants)} {verdict}: {place}: {mutant['what']}: {rows[-1][2]}",
              flush=True)
        dead = sum(row[0].startswith("dead") for row in rows)
        survived = sum(row[0] == "SURVIVED" for row in rows)
        told = f"{dead} of {len(rows)} dead, {survived} survived"
        if options.output:
            options.output.write_text("".join(f"{line}\n" for line in [
                *("\t".join(row) for row in rows), told]))
    print(told)
    if not options.folder:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
