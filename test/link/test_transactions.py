"""Whatever ends a link, its output and report are as they were, or whole and new."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest
from killed import at_call, writing_calls
from linking import LD_FRONTLOAD, TWO_FUNCTIONS, compile_text, ld, write_profile

# lld takes it as it is, and our check of the output finds the second address below the first.
UNSORTED = """.section .eh_frame_hdr,"a"
  .byte 1, 0x1b, 3, 0x3b
  .long 0, 2, 200, 0, 100, 0
"""


class Folder:
    """Where a link writes what is there already, and is not to be lost."""

    def __init__(self, path: Path):
        self.path = path
        self.old = {name: f"the old {name}".encode() for name in ("out", "report")}
        program = compile_text(path.parent, "a.c", TWO_FUNCTIONS)
        profile = write_profile(path.parent, "main", "helper")
        self.link = [program, "-e", "main", f"--startup-profile={profile}", "-o", path / "out",
                     f"--front-report={path / 'report'}"]
        self.begin()

    def begin(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        for name, text in self.old.items():
            (self.path / name).write_bytes(text)

    def contents(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.path.iterdir()}


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "files")


@pytest.mark.parametrize("flag", ["--mmap-output-file", "--no-mmap-output-file"])
def test_killed_at_any_call(tmp_path, strace, folder, flag):
    """Each file is the old one or the new one, and the output is new last of all."""
    command, old = [LD_FRONTLOAD, *folder.link, flag], folder.old
    calls = writing_calls(strace, tmp_path / "log", *command)
    new = folder.contents()
    assert new.keys() == old.keys() and all(new[name] != old[name] for name in new)

    states = []
    for call in calls:
        folder.begin()
        subprocess.run([*at_call(strace, *call), *command], capture_output=True)
        files = folder.contents()
        changed = {name for name in old if files[name] != old[name]}
        assert all(files[name] == new[name] for name in changed), call
        assert "out" not in changed or changed == old.keys(), call
        states.append(changed)
    assert set() in states and any(states), "the link was killed too early or too late"
    assert all(before <= after for before, after in pairwise(states))


@pytest.mark.parametrize("flags, message", [
    (["-u", "gone", "--require-defined=gone"], "gone"),
    (["--front-report={folder}/full"], "{folder}/full: No space left on device"),
    # A file that cannot be written has its own name in what lld says.
    (["-Map={folder}/no/map"], "cannot open map file {folder}/no/map: No such file"),
    # The check of the output.
    (["{folder}/unsorted.o"], ".eh_frame_hdr: entry 1 is out of order")])
def test_a_failed_link(tmp_path, folder, flags, message):
    """All is as it was, whether lld or what follows it has failed."""
    (tmp_path / "full").symlink_to("/dev/full")
    compile_text(tmp_path, "unsorted.s", UNSORTED)
    result = ld(*folder.link, *(flag.format(folder=tmp_path) for flag in flags), code=None)
    assert result.returncode and message.format(folder=tmp_path) in result.stderr
    assert folder.contents() == folder.old


def test_the_output_has_its_own_name(tmp_path, folder):
    """What is held back is known by its name: to maps, to lists of dependencies, to --reproduce."""
    texts = {option: tmp_path / f"text{option}"
             for option in ("-Map", "--dependency-file", "--time-trace", "--reproduce")}
    ld(*folder.link, *(f"{option}={path}" for option, path in texts.items()))
    assert folder.contents().keys() == folder.old.keys()
    assert texts["--dependency-file"].read_text().startswith(f"{folder.path / 'out'}:")
    for path in texts.values():
        assert b"-frontload-" not in path.read_bytes()


def test_links(tmp_path, folder):
    """An output takes the place of a link, as lld's does; a report goes to where the link leads."""
    elsewhere = folder.path.rename(tmp_path / "elsewhere")
    folder.path.mkdir()
    for name in ("out", "report"):
        (folder.path / name).symlink_to(f"../elsewhere/{name}")
    ld(*folder.link)
    assert not (folder.path / "out").is_symlink() and (folder.path / "report").is_symlink()
    assert (elsewhere / "out").read_bytes() == b"the old out"
    assert json.loads((elsewhere / "report").read_text())


@pytest.mark.parametrize("name", ["out", "."])
def test_what_may_not_be_written(folder, ordinary, name):
    """An output is a new file, so its rights do not matter. In a folder where nothing can be put,
    nothing is changed."""
    (folder.path / name).chmod(0o555)
    result = subprocess.run([*ordinary, LD_FRONTLOAD, *folder.link], capture_output=True, text=True)
    if name == "out":
        assert result.returncode == 0
        assert folder.contents()["out"].startswith(b"\x7fELF")
    else:
        assert re.search(f"cannot open .*{folder.path / 'out'}: Permission denied", result.stderr)
        assert folder.contents() == folder.old


def test_a_crash_leaves_nothing(folder):
    """A limit to the size of files ends lld in the midst of writing one."""
    result = subprocess.run([LD_FRONTLOAD, *folder.link], capture_output=True,
                            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE,
                                               (1024, 1024)))
    assert result.returncode == -signal.SIGXFSZ
    assert folder.contents() == folder.old


def test_a_signal_leaves_nothing(tmp_path, folder):
    """Ctrl-C in the midst of a link: all is as it was, and nothing lies beside it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # lld waits for a reader of its map.
    with subprocess.Popen([LD_FRONTLOAD, *folder.link, f"-Map={pipe}"],
                          stderr=subprocess.PIPE, text=True) as process:
        assert any("names found" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
    assert process.returncode == -signal.SIGINT
    assert folder.contents() == folder.old
