"""Makes a wheel that has the native programs, too: platform_wheel.py PREFIX PROCESSOR OUTPUT.

PREFIX is an installation of static programs (preset portable). pip puts the programs where it puts
commands, and everything else below the prefix of that Python, so that both lie as in any
installation: programs find the rest in ../lib. The same sources and programs give the same bytes;
times come from SOURCE_DATE_EPOCH.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("pyproject.toml", "README.md", "LICENSE")
# They need no libc, so they run with each that these promise.
PLATFORMS = ("manylinux_2_17", "musllinux_1_1")
# The parts of an installation that are the Python package's.
LEFT_OUT = ("bin/frontload/", "lib/frontload/python/", "share/doc/frontload/README.md/")
# A wheel has no links. gcc finds the linker in this folder, by this name.
LINKER = "lib/frontload/gcc/ld.lld"
LINKER_SCRIPT = b"""#!/bin/sh
exec "${0%/*}/../../../bin/ld.frontload" "$@"
"""


def pure_wheel(folder: Path) -> Path:
    """The wheel of the Python package alone."""
    copy = folder / "source"  # setuptools writes beside the sources
    shutil.copytree(ROOT / "scripts/frontload", copy / "scripts/frontload",
                    ignore=shutil.ignore_patterns("__pycache__"))
    for name in SOURCES:
        shutil.copy(ROOT / name, copy)
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel",
                    "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, copy],
                   check=True)
    return next(folder.glob("*.whl"))


def native_files(prefix: Path, data: str) -> dict[str, tuple[bytes, int]]:
    """The files of an installation by their names in the wheel, with their modes."""
    found = {}
    for path in prefix.rglob("*"):
        name = str(path.relative_to(prefix))
        if path.is_dir() or f"{name}/".startswith(LEFT_OUT):
            continue
        place = name.replace("bin/", "scripts/", 1) if name.startswith("bin/") else f"data/{name}"
        found[f"{data}/{place}"] = (
            (LINKER_SCRIPT, 0o755) if name == LINKER else (path.read_bytes(), path.stat().st_mode))
    return found


def main(prefix: Path, processor: str, output: Path) -> None:
    written = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    with tempfile.TemporaryDirectory() as folder:
        pure = pure_wheel(Path(folder))
        name, version = pure.name.split("-")[:2]
        base = f"{name}-{version}"
        with zipfile.ZipFile(pure) as wheel:
            files = {each.filename: (wheel.read(each), each.external_attr >> 16)
                     for each in wheel.infolist()}
    files |= native_files(prefix, f"{base}.data")
    tags = [f"{each}_{processor}" for each in PLATFORMS]
    said, mode = files[f"{base}.dist-info/WHEEL"]
    files[f"{base}.dist-info/WHEEL"] = (said.replace(
        b"Tag: py3-none-any\n", b"".join(b"Tag: py3-none-%s\n" % tag.encode() for tag in tags)),
        mode)
    record = f"{base}.dist-info/RECORD"
    lines = []
    for each, (contents, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
        lines.append(f"{each},,\n" if each == record
                     else f"{each},sha256={digest},{len(contents)}\n")
    files[record] = ("".join(lines).encode(), files[record][1])
    output.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(output / f"{base}-py3-none-{'.'.join(tags)}.whl", "w") as wheel:
        for each, (contents, mode) in sorted(files.items()):
            entry = zipfile.ZipInfo(each, max(written, (1980, 1, 1, 0, 0, 0)))
            entry.external_attr = (0o100755 if mode & 0o100 else 0o100644) << 16
            wheel.writestr(entry, contents, zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
