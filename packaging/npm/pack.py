"""Makes packages for npm: pack.py PREFIX PROCESSOR VERSION OUTPUT.

PREFIX is an installation of static programs (preset portable) with its pyelftools. It becomes
@frontload/linux-PROCESSOR, which npm installs on such machines only; the package frontload asks for
those of all processors, and has the commands, each a link to launch.js. The same files give the
same bytes; times come from SOURCE_DATE_EPOCH.
"""

import gzip
import io
import json
import os
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from platform_wheel import LINKER, LINKER_SCRIPT, ROOT  # noqa: E402

ARCHITECTURES = {"x86_64": "x64", "aarch64": "arm64"}
COMMANDS = ("frontload", "frontload-cc", "frontload-run", "ld.frontload")


def described(name: str, version: str, **more) -> bytes:
    return json.dumps({
        "name": name, "version": version,
        "description": "Lays out ELF programs so that startup is one sequential read",
        "license": "Apache-2.0 WITH LLVM-exception", "os": ["linux"], **more}, indent=2).encode()


def write(path: Path, files: dict[str, tuple[bytes, int]]) -> None:
    """A tar ball as `npm pack` makes them: no links, everything in package/."""
    written = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    with (open(path, "wb") as raw,
          gzip.GzipFile(fileobj=raw, filename="", mode="wb", mtime=0) as zipped,
          tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar):
        for name, (contents, mode) in sorted(files.items()):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mtime = len(contents), written
            entry.mode = 0o755 if mode & 0o100 else 0o644
            tar.addfile(entry, io.BytesIO(contents))


def main(prefix: Path, processor: str, version: str, output: Path) -> None:
    architecture = ARCHITECTURES[processor]
    name = f"@frontload/linux-{architecture}"
    files = {str(path.relative_to(prefix)): (path.read_bytes(), path.stat().st_mode)
             for path in prefix.rglob("*") if path.is_file()}
    files[LINKER] = LINKER_SCRIPT, 0o755
    files["package.json"] = described(name, version, cpu=[architecture]), 0o644
    write(output / f"frontload-linux-{architecture}-{version}.tgz", files)

    commands = {command: f"bin/{command}.js" for command in COMMANDS}
    launch = (HERE / "launch.js").read_bytes()
    write(output / f"frontload-{version}.tgz", {
        "package.json": (described(
            "frontload", version, bin=commands, optionalDependencies={
                f"@frontload/linux-{each}": version for each in ARCHITECTURES.values()}), 0o644),
        **{each: (launch, 0o755) for each in commands.values()},
        **{each: ((ROOT / each).read_bytes(), 0o644) for each in ("README.md", "LICENSE")}})


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:4], Path(sys.argv[4]))
