"""Linkers for the tests of --lld: those of this machine, and what they are compared with."""

from pathlib import Path

import abilities
from linking import LD_LLD, link
from places import LLVM

VERSIONS = ["14", "16", "19", "22"]
# The one that is always there.
BY_LLD = f"--lld={LD_LLD}"


def other_lld(version: str) -> Path:
    """An lld by its name in these tests; skips the test if the machine has none."""
    path = LLVM.parent.parent / f"llvm-{version}" / "bin" / "ld.lld"
    abilities.need(f"program:{path}")
    return path


def check_equal(folder: Path, *arguments, profile: Path, **options) -> Path:
    """Checks that the built-in lld and one of the same version link the same; returns the file."""
    embedded, other = folder / "embedded", folder / "other"
    link(embedded, *arguments, profile=profile, **options)
    link(other, *arguments, f"-Wl,{BY_LLD}", profile=profile, **options)
    assert other.read_bytes() == embedded.read_bytes()
    return other
