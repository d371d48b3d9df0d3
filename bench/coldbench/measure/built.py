"""What a build of a Debian package left: its links, its tests, and its packages.

A build's facts are one JSON object:

    status     the exit status of dpkg-buildpackage, negative if it took too long
    seconds    of the build, tests included
    tests      {"runners", "failures"}, see test_counts.py
    links      {"linkers": {linker: how many}, "fronts": {"links", "bytes"},
               "refused": [[output, what the linker says]], "costs": {output: [microseconds of the
               processor, KiB of memory at most]}}
    notes      what frontload-cc says of links that it leaves to another linker
    packages   {package: {"depends", "symbols", "files": {path: hash}}}
    programs   {path: {"size", "build_id", "hardening"}}, of all ELF files in the packages
    debug      the build-ids that have a debug file
    dwz        its complaints
    lintian    its tags
"""

import hashlib
import json
import re
from collections import Counter
from io import BytesIO
from pathlib import Path

from elftools.elf.elffile import ELFFile

from coldbench.measure import test_counts
from coldbench.measure.clean_system import USER

# Run in a clean system with the checks; /out/built has the packages.
EXAMINE = f"""
cd /out
mkdir unpacked
for package in built/*.deb; do
  [ ! -e "$package" ] || dpkg-deb -R "$package" "unpacked/$(dpkg-deb -f "$package" Package)"
done
find unpacked -path '*/usr/lib/debug' -prune -o -type f -exec grep -lZaP '\\A\\x7fELF' {{}} + |
  xargs -0r hardening-check >hardening || true
chown -R builder: .
{USER} env HOME=/tmp \
  lintian --tag-display-limit=0 built/*.deb >lintian || true
"""
_NOTE = re.compile(r"^frontload-cc: note: (.*)$", re.MULTILINE)
_DWZ = re.compile(r"^(?:dh_)?dwz: (?!.* not beneficial).*$", re.MULTILINE)


def links(records: Path) -> dict:
    """What the script `link` has noted."""
    linkers: Counter[str] = Counter()
    fronts: Counter[str] = Counter()
    costs, refused = {}, []
    for cost in sorted(records.glob("*.cost")):
        note = cost.with_suffix("")
        linker, output, status = note.read_text().splitlines()
        linkers[linker] += 1
        if int(status):
            if linker == "front":
                said = note.with_suffix(".said").read_text(errors="replace").splitlines()
                refused.append([output, "; ".join(line for line in said if "error" in line)])
            continue
        figures = json.loads(cost.read_text())
        costs[output] = [figures["user_us"] + figures["system_us"], figures["max_rss_kib"]]
        if linker == "front" and (report := note.with_suffix(".report")).exists():
            front = json.loads(report.read_text())["front"]
            fronts += Counter(links=bool(front), bytes=front["bytes"] if front else 0)
    return {"linkers": dict(linkers), "fronts": dict(fronts), "refused": refused, "costs": costs}


def hardening(text: str) -> dict[str, str]:
    """Of each file the first word of each of hardening-check's answers."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("unpacked/"):
            answers = found.setdefault(line.removeprefix("unpacked/").removesuffix(":"), [])
        elif line.startswith(" "):
            title, _, answer = line.strip().partition(": ")
            answers.append(f"{title}: {answer.split(',')[0].split()[0]}")
    return {path: "; ".join(answers) for path, answers in found.items()}


def _build_id(data: bytes) -> str:
    section = ELFFile(BytesIO(data)).get_section_by_name(".note.gnu.build-id")
    return next(section.iter_notes())["n_desc"] if section else ""


def _packages(out: Path) -> dict:
    packages: dict[str, dict] = {}
    programs, debug = {}, []
    hardened = hardening((out / "hardening").read_text())
    for package in sorted((out / "unpacked").glob("*")):
        depends = re.search(r"^Depends: (.*)$", (package / "DEBIAN/control").read_text(), re.M)
        symbols = package / "DEBIAN/symbols"
        files: dict[str, str] = {}
        packages[package.name] = {
            "depends": sorted(depends[1].split(", ")) if depends else [], "files": files,
            "symbols": symbols.read_text().splitlines() if symbols.exists() else []}
        for place in sorted(package.rglob("*")):
            path = str(place.relative_to(package))
            if place.is_symlink() or not place.is_file() or path.startswith("DEBIAN/"):
                continue
            data = place.read_bytes()
            files[path] = hashlib.sha256(data).hexdigest()[:16]
            key = f"{package.name}/{path}"
            if found := re.fullmatch(r"usr/lib/debug/\.build-id/(..)/(.*)\.debug", path):
                debug.append(found[1] + found[2])
            elif data[:4] == b"\x7fELF" and key in hardened:
                programs[key] = {"size": len(data), "build_id": _build_id(data),
                                 "hardening": hardened[key]}
    return {"packages": packages, "programs": programs, "debug": debug}


def facts(status: int, seconds: float, log: Path, out: Path) -> dict:
    """The facts of a build whose log this is; `out` has `records` and what EXAMINE wrote."""
    text = log.read_text(errors="replace")
    lines = (out / "lintian").read_text().splitlines()
    return {"status": status, "seconds": round(seconds), "tests": test_counts.count(text),
            "links": links(out / "records"), "notes": sorted(set(_NOTE.findall(text))),
            "lintian": sorted(line for line in lines if line[1:2] == ":"),
            "dwz": _DWZ.findall(text), **_packages(out)}
