"""bench/distribution: Debian packages, built with random fronts, and their own test suites.

Each package of the list is built in a clean system by GNU ld, by lld (which is ld.frontload without
a profile), and by ld.frontload with a random half of the symbols of each link in a front that is
prefetched. The last two go through frontload-cc. A build's facts lie in a file of their own in the
work folder, and a build that has facts is not done again, so a run can be interrupted. The rows of
other packages in the result are kept. It needs root, and the packages of `scripts/package`.
"""

import argparse
import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import tomllib
from frontload import __version__
from frontload.base import errors
from frontload.base.errors import Failure
from frontload.base.files import write_if_changed
from frontload.base.processes import TimedOut
from frontload.cli.arguments import count

from coldbench import command
from coldbench.judge import distribution as judge
from coldbench.measure import built, test_counts
from coldbench.measure.clean_system import USER, CleanSystem, packaged, version_of
from coldbench.show import distribution_page, document

_PARTS = command.ROOT / "bench/packages"
_SEED = 44
_SEED_BYTES = 8 << 20
_LAUNCHER = """#!/bin/sh
exec /frontload/bin/frontload-cc --mode=use --profile=/frontload/any.startup --prefetch \\
  --min-match=0 /usr/bin/{} "$@"
"""
_ANY = "frontload-startup-profile 2\nprogram any\nruns 1\nfunction\ttext\t1\t+1\t-\tmain\n"
# The library that programs with a front need is a package of its own.
_BUILD = f"""
[ ! -e /frontload/library.deb ] || dpkg --install /frontload/library.deb
cd /build/*/
status=0
{USER} env HOME=/nonexistent USER=builder LOGNAME=builder PATH="$1:$PATH" \\
  DEB_BUILD_OPTIONS="parallel=$2 $3" DPKG_GENSYMBOLS_CHECK_LEVEL=0 \\
  dpkg-buildpackage -us -uc -B || status=$?
cp /build/*.deb /out/built 2>/dev/null || true
exit $status
"""


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/distribution", description="Build Debian packages with random fronts in all "
        "that they link, and compare their tests and files with those of other linkers.")
    parser.add_argument("packages", metavar="PACKAGE", nargs="*",
                        help="source packages of the list (default: all)")
    parser.add_argument("--list", metavar="FILE", type=Path, default=_PARTS / "list.toml",
                        help="the list (default %(default)s)")
    parser.add_argument("--builds", metavar="NAME,...", default=",".join(
                        (*judge.BUILDS, judge.AGAIN)), help="which builds (default %(default)s)")
    parser.add_argument("--redo", action="store_true", help="also those that are done")
    parser.add_argument("--jobs", metavar="N", type=count(1), default=1,
                        help="what a build may run at once (default %(default)s)")
    parser.add_argument("--timeout", metavar="SECONDS", type=count(1), default=3600,
                        help="end a build that takes longer (default %(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="the result (default bench/distribution.json in --build-dir)")
    parser.add_argument("--work-dir", metavar="DIR", type=Path,
                        help="for systems and facts (default: bench/distribution in --build-dir)")
    command.add_build_dir(parser)
    return parser.parse_args(argv)


class Distribution:
    """Builds of packages, with their facts in a folder."""

    def __init__(self, args: argparse.Namespace, folder: Path):
        self._args, self._folder = args, folder
        self._system = CleanSystem(folder)

    def _tools(self) -> Path:
        """Our programs, as a build finds them in /frontload."""
        made = self._args.build_dir / "packages"
        tools = packaged(made, self._folder / "tools")
        library = made / f"libfrontload-prefetch1_{__version__}_amd64.deb"
        shutil.copy2(library, tools / "library.deb")
        write_if_changed(tools / "seed", Random(_SEED).randbytes(_SEED_BYTES))
        write_if_changed(tools / "any.startup", _ANY.encode())
        for place in ("lib/frontload/gcc/ld.lld", "ld/ld", "ld/x86_64-linux-gnu-ld"):
            (tools / place).parent.mkdir(exist_ok=True)
            if (tools / place).is_symlink():
                (tools / place).unlink()
            write_if_changed(tools / place, (_PARTS / "link").read_bytes())
            (tools / place).chmod(0o755)
        return tools

    def version(self, package: str) -> str:
        """Of the source, which is fetched first if it is not there."""
        folder = self._folder / package
        folder.mkdir(parents=True, exist_ok=True)
        return version_of(self._system.source(package, folder / "source.log"))

    def build(self, package: str, name: str) -> dict:
        """The facts of one build: those that are there, or else new ones."""
        file, log = (self._folder / package / f"{name}.{end}" for end in ("json", "log"))
        inputs = {"version": self.version(package), "seed": _SEED}
        if file.exists() and not self._args.redo:
            found = json.loads(file.read_text())
            if found["inputs"] == inputs:
                if log.exists():  # by the runners of tests that are known today
                    found["tests"] = test_counts.count(log.read_text(errors="replace"))
                return found
        source = self._folder / package / "source"
        work = self._folder / package / f"{name}.part"
        shutil.rmtree(work, ignore_errors=True)
        out, launchers = work / "out", work / "launchers"
        for part in (out, out / "built", out / "records", launchers):
            part.mkdir(parents=True)
            part.chmod(0o1777)
        self._system.make_launchers(launchers, source, _LAUNCHER)
        (launchers / "build").write_text(judge.FRONT if name == judge.AGAIN else name)
        binds = {self._tools(): "/frontload", launchers: "/launchers", out: "/out",
                 out / "records": "/records"}
        path = "/frontload/ld" if name == judge.GNU else "/launchers:/frontload/ld"
        begin = time.monotonic()
        try:
            status = self._system.run([source], work / "build", _BUILD, path, f"{self._args.jobs}",
                                      "nocheck" if name == judge.AGAIN else "", log=log,
                                      binds=binds, timeout=self._args.timeout)
        except TimedOut:
            status = -1
        seconds = time.monotonic() - begin
        checks = self._system.checks(self._folder / "checks.log")
        self._system.run([checks], work / "checks", built.EXAMINE, log=work / "checks.log",
                         binds={out: "/out"})
        facts = {"inputs": inputs, **built.facts(status, seconds, log, out)}
        write_if_changed(file, json.dumps(facts).encode())
        shutil.rmtree(work)
        return facts


def _do(args: argparse.Namespace, entries: dict[str, dict], file: Path,
        progress: Callable[[str], None]) -> dict:
    wanted = command.choose("--builds", args.builds, (*judge.BUILDS, judge.AGAIN), "build")
    work = Distribution(args, args.work_dir or args.build_dir / "bench/distribution")
    rows = document.read_rows(file, distribution=document.DISTRIBUTION)
    for package, entry in command.chosen_packages(args.packages, entries, args.list).items():
        builds = {}
        try:
            for name in wanted:
                if name != judge.AGAIN or entry.get("again", True):
                    progress(f"{package}: {name}")
                    builds[name] = work.build(package, name)
                    if builds[name]["status"] < 0:
                        raise Failure(f"{package}: {name}: took longer than --timeout")
        except Failure as problem:  # the others may be there
            errors.error(problem.message)
        if builds.keys() >= set(judge.BUILDS):
            rows[package] = judge.row(package, work.version(package), builds)
    head = document.head(document.DISTRIBUTION, seed=_SEED)
    return document.write_rows(file, head, rows)


def run(args: argparse.Namespace) -> int:
    file = args.json or args.build_dir / "bench/distribution.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = tomllib.loads(args.list.read_text())
    with command.progress() as progress:
        result = _do(args, entries, file, progress)
    page = distribution_page.render(result, entries)
    write_if_changed(file.with_suffix(".md"), page.encode())
    print(distribution_page.summary(result["rows"]))
    return errors.EXIT_OK
