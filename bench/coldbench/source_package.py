"""bench/fetch-source: the source of a Debian package, from this machine's package archive.

Workloads that are built from source take it from the distribution's archive, as this machine
reaches it: through a mirror, a proxy, keys. Most machines list only binary packages. So we copy the
lists to a folder of our own, with `deb-src` for `deb`, and apt works there: this changes nothing in
the system, and needs no root.

We use only the upstream tarball (PACKAGE_VERSION.orig.tar.*), not Debian's patches, which a point
release may change. Its SHA-256 identifies it, so all machines build the same source. A folder notes
what it was unpacked from, and is left alone if that is what is wanted.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from frontload.base import errors
from frontload.base.errors import EXIT_VERDICT, BadData, Failure
from frontload.base.processes import check_call

APT = Path("/etc/apt")
NOTE = ".sha256"  # in the folder: the hash of its tarball


def source_lines(text: str) -> str:
    """A one-line-style list (sources.list) of the source packages for its binary packages."""
    lines = (re.sub(r"^\s*deb(-src)?(?=[\s\[])", "deb-src", line) for line in text.splitlines())
    return "".join(f"{line}\n" for line in dict.fromkeys(lines))


def source_paragraphs(text: str) -> str:
    """The same for a list in deb822 style (*.sources)."""
    return re.sub(r"^Types:.*$", "Types: deb-src", text, flags=re.MULTILINE | re.IGNORECASE)


def _lists() -> Iterator[tuple[str, str]]:
    """The name and text of each list of source packages."""
    files = [APT / "sources.list", *sorted((APT / "sources.list.d").glob("*"))]
    for file in files:
        if file.suffix in (".list", ".sources") and file.is_file():
            change = source_lines if file.suffix == ".list" else source_paragraphs
            yield file.name, change(file.read_text())


def download(package: str, sha256: str, folder: Path) -> Path:
    """Puts the tarball of that SHA-256 into the folder, or refuses another one from the archive."""
    if shutil.which("apt-get") is None:
        raise Failure(f"{package}: its source comes from apt-get, which is not installed",
                      note="run the bench on Debian 12")
    lists = folder / "apt/lists"
    (lists / "partial").mkdir(parents=True)
    parts = folder / "apt/sources"
    parts.mkdir()
    for name, text in _lists():
        (parts / name).write_text(text)
    options = {"Dir::Etc::SourceList": "/dev/null", "Dir::Etc::SourceParts": parts,
               "Dir::State::Lists": lists, "Dir::Cache": folder / "apt",
               # apt's own user may not write into a folder of ours.
               "APT::Sandbox::User": "root" if os.geteuid() == 0 else "",
               "Acquire::Languages": "none"}
    apt = ["apt-get", "-q", *(f"-o{name}={value}" for name, value in options.items())]
    # A list that has no source packages fails the update, but not ours if another one has them.
    subprocess.run([*apt, "update"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    got = subprocess.run([*apt, "source", "--download-only", "--tar-only", package], cwd=folder,
                         text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if got.returncode:
        complaint = got.stderr.strip().splitlines() or ["apt-get source failed"]
        raise Failure(f"{package}: its source cannot be downloaded: {complaint[-1]}",
                      code=EXIT_VERDICT,
                      note="the lists of packages in /etc/apt must reach an archive with sources")
    tarballs = sorted(folder.glob("*.orig.tar.*"))
    for tarball in tarballs:
        if _sha256(tarball) == sha256:
            return tarball
    names = ", ".join(tarball.name for tarball in tarballs) or "no upstream tarball"
    raise BadData(package, f"the archive has {names}, whose SHA-256 is not the expected {sha256}",
                  note="the workload was written for another version: bench/workloads names it")


def _sha256(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def is_there(sha256: str, folder: Path) -> bool:
    try:
        return (folder / NOTE).read_text() == sha256
    except OSError:
        return False


def unpack(tarball: Path, sha256: str, folder: Path) -> None:
    """Unpacks the tarball's top folder into the folder, which is there whole or not."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}.") as temporary:
        top = Path(temporary) / folder.name
        top.mkdir()
        check_call(["tar", "-x", "-f", tarball, "-C", top, "--strip-components=1",
                    "--no-same-owner"])
        (top / NOTE).write_text(sha256)
        shutil.rmtree(folder, ignore_errors=True)
        top.rename(folder)


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="bench/fetch-source", description="Unpack the upstream source that Debian builds a "
                                               "package from, using this machine's lists of "
                                               "packages.")
    parser.add_argument("package", help="name of the source package")
    parser.add_argument("sha256", help="of its .orig.tar.*: anything else is refused")
    parser.add_argument("folder", type=Path,
                        help="where it goes; another source that is there is replaced")
    return parser.parse_args(argv)


def run(args: argparse.Namespace) -> int:
    sha256, folder = args.sha256.lower(), args.folder.resolve()
    if is_there(sha256, folder):
        return errors.EXIT_OK
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="frontload-source.") as scratch:
        unpack(download(args.package, sha256, Path(scratch)), sha256, folder)
    return errors.EXIT_OK
