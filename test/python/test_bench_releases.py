"""bench/releases: releases are linked with a front by an old profile, by one that samples renew,
and by a new recording."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from frontload.base.errors import Failure
from places import BUILD, LLVM

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))

from coldbench import releases

# Far apart, so that each function has pages of its own.
FUNCTIONS = 3
SOURCE = "".join(
    f'__attribute__((noinline)) int of_{n}(int x) {{ return x * {n + 2}; }}\n'
    f'__attribute__((used)) void between_{n}(void) {{ __asm__(".fill 300000, 1, 0x90"); }}\n'
    for n in range(FUNCTIONS))
# What starts of each release call.
CALLED = {"1.9": (0,), "1.10": (0, 1), "1.11": (0, 1)}
REFUSED = "1.12"


def main(called) -> str:
    return ("int main(int argc, char **argv) { return "
            + " + ".join(f"of_{n}(argc)" for n in called) + " == 0; }\n")


@pytest.fixture
def crate(tmp_path):
    """A program whose releases are compiled already: no test needs cargo's registry."""
    folder, work = tmp_path / "tiny", tmp_path / "work"
    folder.mkdir()
    (folder / "versions").write_text("\n".join((*CALLED, REFUSED)))
    (folder / "starts").write_text("one\nother start\n")
    for version, called in CALLED.items():
        release = work / "tiny" / version
        release.mkdir(parents=True)
        (release / "tiny.c").write_text(SOURCE + main(called))
        kept = release / "link.tar"
        subprocess.run([LLVM / "clang", "-O1", "-ffunction-sections", f"--ld-path={LLVM}/ld.lld",
                        "-Wl,--build-id", "tiny.c", "-o", "linked"], cwd=release, check=True,
                       env=os.environ | {"LLD_REPRODUCE": str(kept)})
        subprocess.run(["tar", "xf", kept, "--one-top-level=link", "--strip-components=1"],
                       cwd=release, check=True)
    (work / "tiny" / REFUSED).mkdir()
    (work / "tiny" / REFUSED / "refused").write_text("error: no such feature")
    return folder


def measured(crate: Path, *more: str) -> dict:
    folder = crate.parent
    words = [str(crate), f"--work-dir={folder / 'work'}", f"--build-dir={BUILD}",
             f"--llvm={LLVM.parent}", f"--json={folder / 'result'}",
             f"--picture={folder / 'picture.svg'}", *more]
    try:
        assert releases.run(releases.parse(words)) == 0
    except Failure as failure:
        if "perf cannot record" in (failure.note or ""):
            pytest.skip(failure.note)
        raise
    return json.loads((folder / "result").read_text())


def test_what_samples_tell_is_in_the_next_release(crate):
    """A function that is new in a release is in no older profile; samples of it tell it."""
    result = measured(crate)
    rows = {row["version"]: row for row in result["rows"]}
    complete = {version: {name for name in releases.PROFILES if row[name]["coverage"] == 1}
                for version, row in rows.items()}
    of_this = {releases.CAUGHT_UP, releases.CANDIDATE, releases.ANEW}
    assert complete == {"1.9": set(releases.PROFILES), "1.10": of_this,
                        "1.11": set(releases.PROFILES) - {releases.NEVER}}
    assert all(row[releases.PLAIN]["read_bytes"] > row[releases.ANEW]["read_bytes"] > 0
               for row in rows.values())
    assert result["refused"] == [REFUSED]
    assert "1.10" in (crate.parent / "picture.svg").read_text()


def test_an_interrupted_run_goes_on(crate, monkeypatch):
    """What a release has told is not measured again."""
    measured(crate, "--keep")
    monkeypatch.setattr(releases.Release, "record", None)
    measured(crate)
    (crate.parent / "work" / "tiny" / "1.11" / "figures.json").unlink()
    with pytest.raises(TypeError):
        measured(crate)


def test_a_crate_that_is_not_described_is_refused(crate):
    with pytest.raises(Failure, match="other: has no file versions"):
        releases.described(Path("other"))
