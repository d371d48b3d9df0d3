"""What happens to a large file that a link's output takes the place of: the link does not wait for
it, and nothing of it is left."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from left_processes import wait_until_none
from linking import LD_FRONTLOAD, TWO_FUNCTIONS, compile_text, ld, write_profile

LARGE = 64 << 20  # of which nothing is on the disk


@pytest.fixture
def link(tmp_path) -> list:
    """A link to `out`, which is a large file."""
    os.truncate(os.open(tmp_path / "out", os.O_CREAT | os.O_WRONLY), LARGE)
    return [compile_text(tmp_path, "a.c", TWO_FUNCTIONS), "-e", "main", "-o", tmp_path / "out",
            f"--startup-profile={write_profile(tmp_path, 'main', 'helper')}"]


def is_linked(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x7fELF") and path.stat().st_size < LARGE


def test_another_process_frees_it(tmp_path, link, strace):
    """The new file is not renamed over the old one; the last descriptor of the old one is the input
    of a process that has no other, and that the link does not wait for."""
    log = tmp_path / "log"
    calls = "renameat2,unlink,dup2,close_range,execve,wait4,waitid"
    subprocess.run([strace, "-f", "-y", "-o", log, "-e", f"trace={calls}", LD_FRONTLOAD, *link],
                   check=True, capture_output=True)
    assert re.search(r"RENAME_EXCHANGE.*\n.*unlink\(.*\n"
                     r".*dup2\(.*\(deleted\), 0<.*\n.*dup2\(1</dev/null>, 2.*\n"
                     r".*close_range\(3, .*\n.*execve\(\"/bin/sh\"", log.read_text())
    assert "wait" not in log.read_text()
    assert is_linked(tmp_path / "out")


def test_nothing_is_left(tmp_path, link):
    """Neither a name nor a process, and whoever reads what the link says sees its end at once."""
    before = set(tmp_path.iterdir())
    ld(*link)
    assert is_linked(tmp_path / "out") and set(tmp_path.iterdir()) == before
    wait_until_none("fd/0", str(tmp_path / "out"))


@pytest.mark.parametrize("other", ["link", "symlink"])
def test_another_name(tmp_path, link, other):
    """What has another name stays there as it was."""
    name = tmp_path / "other"
    if other == "link":
        os.link(tmp_path / "out", name)
    else:
        (tmp_path / "out").rename(name)
        (tmp_path / "out").symlink_to(name)
    ld(*link)
    assert is_linked(tmp_path / "out") and not (tmp_path / "out").is_symlink()
    assert name.stat().st_size == LARGE


def test_a_file_system_that_cannot_exchange(tmp_path, link, strace):
    """The new file is renamed over the old one then."""
    subprocess.run([strace, "-f", "-o", "/dev/null", "-e", "trace=renameat2", "-e",
                    "inject=renameat2:error=EINVAL", LD_FRONTLOAD, *link],
                   check=True, capture_output=True)
    assert is_linked(tmp_path / "out")


def test_no_other_process(tmp_path, link, strace):
    """Where none can be started, the link frees the file itself."""
    subprocess.run([strace, "-f", "-o", "/dev/null", "-e", "trace=execve", "-e",
                    "inject=execve:error=EACCES:when=2", LD_FRONTLOAD, *link],
                   check=True, capture_output=True)
    assert is_linked(tmp_path / "out")
