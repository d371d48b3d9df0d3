"""What happens to a large file that a link's output takes the place of: the link does not wait for
it, and nothing of it is left."""

import ctypes
import os
import re
from pathlib import Path

import pytest
from linking import LD_FRONTLOAD, TWO_FUNCTIONS, check_run, compile_text, ld, write_profile

IN_DELETE_SELF = 0x400  # nobody has the file open any more
LARGE = 64 << 20  # of which nothing is on the disk


@pytest.fixture
def link(tmp_path) -> list:
    """A link to `out`, which is a large file."""
    (tmp_path / "out").touch()
    os.truncate(tmp_path / "out", LARGE)
    return [compile_text(tmp_path, "a.c", TWO_FUNCTIONS), "-e", "main", "-o", tmp_path / "out",
            f"--startup-profile={write_profile(tmp_path, 'main', 'helper')}"]


def is_linked(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x7fELF") and path.stat().st_size < LARGE


def test_another_process_frees_it(tmp_path, link, strace):
    """The new file is not renamed over the old one; the last descriptor of the old one is the input
    of a process that has no other, and that the link does not wait for."""
    log = tmp_path / "log"
    calls = "renameat2,unlink,dup2,close_range,execve,wait4,waitid"
    check_run(strace, "-f", "-y", "-o", log, "-e", f"trace={calls}", LD_FRONTLOAD, *link)
    assert re.search(r"RENAME_EXCHANGE.*\n.*unlink\(.*\n"
                     r".*dup2\(.*\(deleted\), 0<.*\n.*dup2\(1</dev/null>, 2.*\n"
                     r".*close_range\(3, .*\n.*execve\(\"/bin/sh\"", log.read_text())
    assert "wait" not in log.read_text()
    assert is_linked(tmp_path / "out")


def test_nothing_is_left(tmp_path, link):
    """Neither a name nor a process, and whoever reads what the link says sees its end at once."""
    before, libc = set(tmp_path.iterdir()), ctypes.CDLL(None)
    watch = libc.inotify_init()
    libc.inotify_add_watch(watch, os.fsencode(tmp_path / "out"), IN_DELETE_SELF)
    ld(*link)
    assert is_linked(tmp_path / "out") and set(tmp_path.iterdir()) == before
    assert os.read(watch, 1 << 10)
    os.close(watch)


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


@pytest.mark.parametrize("fault", ["renameat2:error=EINVAL", "execve:error=EACCES:when=2"])
def test_what_cannot_be_had(tmp_path, link, strace, fault):
    """Where files cannot be exchanged the new one is renamed over the old one, and where no process
    can be started the link frees the file itself."""
    check_run(strace, "-f", "-o", os.devnull, "-e", f"trace={fault.partition(':')[0]}", "-e",
              f"inject={fault}", LD_FRONTLOAD, *link)
    assert is_linked(tmp_path / "out")
