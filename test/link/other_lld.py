"""Linkers for the tests of --lld: those of this machine, and what they are compared with."""

import shutil
import subprocess
from pathlib import Path

import pytest
from linking import LD_LLD, link
from places import LLVM

VERSIONS = ["14", "16", "19", "22", "rust"]


def rust_lld() -> Path | None:
    """The lld that comes with Rust, if there is one: rustup's lies with its libraries, Debian's is
    in PATH, a link to what lld-14 has."""
    paths = []
    if rustc := shutil.which("rustc"):
        found = subprocess.run([rustc, "--print", "sysroot"], capture_output=True, text=True)
        paths += sorted(Path(found.stdout.strip()).glob("lib/rustlib/*/bin/rust-lld"))
    if in_path := shutil.which("rust-lld"):
        paths.append(Path(in_path))
    return paths[0] if paths else None


def other_lld(version: str) -> Path:
    """An lld by its name in these tests; skips the test if the machine has none."""
    if version == "rust":
        path = rust_lld()
        if path is None:
            pytest.skip("Rust brings no rust-lld here, or one without its lld")
        return path
    path = LLVM.parent.parent / f"llvm-{version}" / "bin" / "ld.lld"
    if not path.exists():
        pytest.skip(f"there is no {path} here")
    return path


def link_both(folder: Path, *arguments, profile: Path, code: int = 0, lld: Path = LD_LLD,
              **options) -> tuple[Path, Path]:
    """Links by the embedded lld and by another one; returns the outputs."""
    outputs = folder / "embedded", folder / "other"
    link(outputs[0], *arguments, profile=profile, code=code, **options)
    link(outputs[1], *arguments, f"-Wl,--lld={lld}", profile=profile, code=code, **options)
    return outputs


def check_equal(folder: Path, *arguments, profile: Path, **options) -> Path:
    """Checks that the built-in lld and one of the same version link the same; returns the file."""
    embedded, other = link_both(folder, *arguments, profile=profile, **options)
    assert other.read_bytes() == embedded.read_bytes()
    return other
