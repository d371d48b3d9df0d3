"""bench/gains: what `frontload auto` gives to programs of Debian, trained with their test suites.

The source package of each program in the list is built once, in a clean system, by its own rules.
There `frontload auto` tries a front for the program: trained with one command and with the
package's test suite. Cold starts of both programs are then measured on devices: that of the
command, and another one that is in no training of ours. The program and the libraries of its build
are cold. Layers and figures stay in the work folder, so a run can be interrupted; the rows of other
programs in the result are kept. It needs root, and the packages of `scripts/package`.
"""

import argparse
import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import tomllib
from frontload.base import errors
from frontload.base.errors import Failure
from frontload.base.files import write_if_changed
from frontload.cli.arguments import count

from coldbench import command
from coldbench.measure.clean_system import USER, CleanSystem, packaged, version_of
from coldbench.show import document, gains_page, page

_LIST = command.ROOT / "bench/packages/gains.toml"
_LAUNCHER = """#!/bin/sh
exec /frontload/bin/frontload-cc --mode=off --link-log=/build/links /usr/bin/{} \\
  -ffunction-sections -fdata-sections "$@"
"""
_ALL = "dpkg-buildpackage -T clean,build-arch"
# No start reads debug information.
_BUILD = f"""
cd /build/*/
exec {USER} env HOME=/nonexistent USER=builder LOGNAME=builder PATH="/launchers:$PATH" \\
  DEB_BUILD_OPTIONS="parallel=$1 nocheck $2" DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g \\
  sh -euc "$3" sh $1
"""
# A refusal, and a front that is not worth it, are also results.
_TRY = f"""
cd /build/*/
train=$1 folders=$2 ready=$3
shift 3
if [ "$folders" ]; then
  searched=$(printf "$PWD/%s:" $folders)
  train="export LD_LIBRARY_PATH=${{searched%:}}; $train"
  set -- env "LD_LIBRARY_PATH=${{searched%:}}" "$@"
fi
{USER} env HOME=/tmp USER=builder LOGNAME=builder PATH="$PATH:/frontload/bin" \\
  DEB_BUILD_OPTIONS=parallel=1 FRONTLOAD_LINK_LOG=/build/links \\
  CARGO_HOME="$PWD/debian/cargo_home" \\
  frontload auto --json=/out/auto.json --train="$train" $ready -- "$@" ||
  [ $? -lt 100 ]
"""
_MEASURE = """
cd /build/*/
exec /frontload/bin/frontload measure --selectively-cold --runs=10 "$@"
"""
# The device is ours alone, so all its reads are the start's. Only the program and its libraries are
# cold: the first run warms the rest, and a file system that is mounted again has nothing in memory.
_COUNT = """
cd /build/*/
counted=$1 copies=$2 command=$3 image=/tmp/image
export variant device=/tmp/device
truncate -s 1G $image
mkfs.ext4 -q -F $image
loop=$(losetup --find --show $image)
trap 'losetup --detach $loop' EXIT
block=/sys/block/${loop##*/}
echo 128 >$block/queue/read_ahead_kb
mkdir $device
mount $loop $device
eval "$copies"
for variant in before after; do
  sh -c "$command" >/tmp/said 2>&1
  umount $device
  mount -o ro,noload $loop $device
  ls -lR $device >/tmp/said
  set -- $(cat $block/stat)
  begin=$1
  sh -c "$command" >/tmp/said 2>&1
  sleep 0.3
  set -- $(cat $block/stat)
  echo "$variant $(($1 - begin))"
done >/tmp/counted
umount $device
cp /tmp/counted /out/$counted
"""
_FIGURES = "major_faults", "read_bytes", "max_rss_bytes"


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/gains", description="Try `frontload auto` on programs of Debian, trained with "
        "their own test suites, and measure cold starts before and after.")
    parser.add_argument("packages", metavar="PACKAGE", nargs="*",
                        help="source packages of the list (default: all)")
    parser.add_argument("--only-build", action="store_true",
                        help="build the packages and try auto, but measure nothing")
    parser.add_argument("--jobs", metavar="N", type=count(1), default=2,
                        help="what a build may run at once (default %(default)s)")
    parser.add_argument("--timeout", metavar="SECONDS", type=count(1), default=3600,
                        help="end a build, or a test suite, that takes longer (default "
                        "%(default)s)")
    parser.add_argument("--json", metavar="FILE", type=Path,
                        help="the result (default bench/gains.json in --build-dir)")
    parser.add_argument("--work-dir", metavar="DIR", type=Path, help="for systems, shared with "
                        "bench/distribution (default: bench/distribution in --build-dir)")
    command.add_build_dir(parser)
    return parser.parse_args(argv)


class Gains:
    """Programs, with and without a front, in layers of a clean system."""

    def __init__(self, args: argparse.Namespace, progress: Callable[[str], None]):
        self._args, self._progress = args, progress
        self._folder = args.work_dir or args.build_dir / "bench/distribution"
        self._system = CleanSystem(self._folder)
        self._binds = {packaged(args.build_dir / "packages", self._folder / "gains"): "/frontload"}

    def row(self, package: str, entry: dict) -> dict | None:
        """Of the result; None if nothing is to be measured."""
        folder = self._folder / package / "gains"
        out = folder / "out"
        out.mkdir(parents=True, exist_ok=True)
        out.chmod(0o1777)
        self._progress(f"{package}: building")
        source = self._system.source(package, folder / "source.log")
        launchers = folder / "launchers"
        launchers.mkdir(exist_ok=True)
        self._system.make_launchers(launchers, source, _LAUNCHER)
        built = self._system.layer(f"{package}/gains/built", _BUILD, f"{self._args.jobs}",
                                   entry.get("options", ""), entry.get("build", _ALL),
                                   log=folder / "built.log", below=[source],
                                   binds=self._binds | {launchers: "/launchers"},
                                   timeout=self._args.timeout)
        self._progress(f"{package}: frontload auto")
        below = [built, source, self._system.recorders(folder / "recorders.log")]
        log = folder / "tried.log"
        tried = self._system.layer(
            f"{package}/gains/tried", _TRY, entry["train"], entry.get("libraries", ""),
            entry.get("ready", ""), *shlex.split(
                entry["start"].replace("{}", f"./{entry['program']}")), log=log,
            below=below, binds=self._binds | {out: "/out"}, timeout=self._args.timeout)
        if self._args.only_build:
            return None
        row = {"package": package, "version": version_of(source), "program": entry["program"]}
        if not (out / "auto.json").exists():
            said = [line for line in log.read_text(errors="replace").splitlines()
                    if line.startswith("frontload: error: ")]
            return row | {"refused": said[-1].removeprefix("frontload: error: "), "starts": []}
        auto = json.loads((out / "auto.json").read_text())
        if not auto["trained_runs"]:
            raise Failure(f"{package}: its test suite did not start {entry['program']}",
                          note=f"see {log}")
        return row | {
            # Of the reads on a hard disk, in ms.
            "predicted": {name: each["hdd"]["seconds"] * 1000
                          for name, each in (auto["predicted"] or {}).items()},
            "verdict": auto["verdict"], "trained_runs": auto["trained_runs"],
            "starts": [self._starts(package, entry, name, auto, [tried, *below])
                       for name in ("start", "other")]}

    def _starts(self, package: str, entry: dict, name: str, auto: dict, layers: list[Path]) -> dict:
        """Cold starts of one command on all devices."""
        words = shlex.split(entry[name])
        # A program that does not end by itself is ended.
        ready = [*shlex.split(entry["ready"]), "--ignore-failure"] if "ready" in entry else []
        libraries = [each["path"] for each in auto["libraries"]]
        if libraries:
            own = ":".join(dict.fromkeys(f"{Path(path).parent}" for path in libraries))
            place = words.index("{}")
            words[place:place] = ["env", f"LD_LIBRARY_PATH={{}}.lib:{own}"]
        cold = ["{}", *libraries, *(each["output"] for each in auto["libraries"] if each["output"])]
        found: dict = {"command": entry[name], "trained": name == "start", "devices": {}}
        for device in gains_page.DEVICES:
            self._progress(f"{package}: {name} on {device}")
            file = f"{name}-{device}.json"
            measured = json.loads(self._measured(
                package, layers, file, _MEASURE, f"--json=/out/{file}", f"--device={device}",
                *(f"--evict={each}" for each in cold), f"--variant=before={auto['program']}",
                f"--variant=after={auto['output']}", *ready, "--", *words))
            (ratio,) = measured["comparisons"]
            found["devices"][device] = {key: ratio[key] for key in ("estimate", "low", "high")}
            # The counts of the last device, as those of the first.
            found |= {each["variant"]: {figure: each["figures"][figure]["median"]
                                        for figure in _FIGURES} for each in measured["results"]}
        if not ready:
            for variant, requests in self._counted(package, auto, entry[name], name, layers):
                found[variant]["requests"] = requests
        return found

    def _counted(self, package: str, auto: dict, start: str, name: str, layers: list[Path]
                 ) -> list[tuple[str, int]]:
        """The requests that a device serves during one cold start of each program."""
        program = Path(auto["program"]).name
        files = {"before": [(auto["program"], program)], "after": [(auto["output"], program)]}
        for each in auto["libraries"]:
            files["before"].append((each["path"], f"lib/{each['name']}"))
            files["after"].append((each["output"] or each["path"], f"lib/{each['name']}"))
        copies = [f"mkdir -p $device/{variant}/lib" for variant in files] + [
            f"cp {shlex.quote(path)} $device/{variant}/{place}"
            for variant, pairs in files.items() for path, place in pairs]
        there = f"$device/$variant/{program}"
        if auto["libraries"]:
            there = f"env LD_LIBRARY_PATH=$device/$variant/lib {there}"
        counted = self._measured(package, layers, f"{name}-counted", _COUNT, f"{name}-counted",
                                "\n".join(copies), start.replace("{}", there))
        return [(variant, int(requests)) for variant, requests in map(
            str.split, counted.splitlines())]

    def _measured(self, package: str, layers: list[Path], file: str, script: str, *words: str
                 ) -> str:
        """The file that a script writes below /out in these layers, once; all else that the script
        writes is removed."""
        folder = self._folder / package / "gains"
        log, found = folder / f"{file.removesuffix('.json')}.log", folder / "out" / file
        if not found.exists() and self._system.run(
                layers, folder / "measured", script, *words, log=log, timeout=self._args.timeout,
                binds=self._binds | {folder / "out": "/out", Path("/sys"): "/sys"}):
            raise Failure(f"{package}: cannot be measured", note=f"see {log}")
        shutil.rmtree(folder / "measured", ignore_errors=True)
        return found.read_text()


def _kept(file: Path, head: dict) -> dict[str, dict]:
    """The rows that the result has already, with the machine of those that another one measured."""
    rows = document.read_rows(file, gains=document.GAINS)
    before = document.read(file, gains=document.GAINS) if rows else head
    other = {} if page.machine(before) == page.machine(head) else {"host": before["host"]}
    return {package: other | row for package, row in rows.items()}


def run(args: argparse.Namespace) -> int:
    file = args.json or args.build_dir / "bench/gains.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    entries = tomllib.loads(_LIST.read_text())
    chosen = command.chosen_packages(args.packages, entries, _LIST)
    head = document.head(document.GAINS)
    rows = _kept(file, head)
    with command.progress() as progress:
        work = Gains(args, progress)
        for package, entry in chosen.items():
            try:
                if row := work.row(package, entry):
                    rows[package] = row
            except Failure as problem:  # the others may be there
                errors.error(problem.message)
            document.write_rows(file, head, rows)
    write_if_changed(file.with_suffix(".md"), gains_page.render(
        document.read(file, gains=document.GAINS), entries).encode())
    return errors.EXIT_OK
