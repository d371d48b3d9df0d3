"""Whatever ends a link, each file that it writes is as it was, or whole and new."""

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
from other_lld import BY_LLD

# What a link may write, by the option for it.
TEXTS = {"-Map": "map", "--dependency-file": "deps", "--time-trace": "trace",
         "--why-extract": "why", "--print-archive-stats": "archives", "--front-report": "report"}
# lld takes it as it is, and our check of the output finds the second address below the first.
UNSORTED = """.section .eh_frame_hdr,"a"
  .byte 1, 0x1b, 3, 0x3b
  .long 0, 2, 200, 0, 100, 0
"""


class Folder:
    """Where a link writes what is there already, and is not to be lost."""

    def __init__(self, path: Path, texts):
        self.path, self.texts = path, texts
        self.old = {name: f"the old {name}".encode() for name in ("out", *map(TEXTS.get, texts))}
        program = compile_text(path.parent, "a.c", TWO_FUNCTIONS)
        profile = write_profile(path.parent, "main", "helper")
        self.link = [program, "-e", "main", f"--startup-profile={profile}", "-o", path / "out",
                     *(f"{option}={path / TEXTS[option]}" for option in texts)]
        self.begin()

    def begin(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.mkdir()
        for name, text in self.old.items():
            (self.path / name).write_bytes(text)

    def contents(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.path.iterdir()}

    def without_times(self) -> dict[str, object]:
        """A time trace is never the same again; a whole one can be read."""
        files, trace = self.contents(), (self.path / "trace").read_bytes()
        is_whole = trace.startswith(b"{") and json.loads(trace)
        return {**files, "trace": "events" if is_whole else trace}


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "files", TEXTS)


@pytest.mark.parametrize("flag", ["--mmap-output-file", "--no-mmap-output-file", BY_LLD])
def test_killed_at_any_call(tmp_path, strace, flag):
    """Each file is the old one or the new one, and the output is new last of all."""
    folder = Folder(tmp_path / "files", ("-Map", "--time-trace") if flag == BY_LLD else TEXTS)
    command, old = [LD_FRONTLOAD, *folder.link, flag], folder.old
    calls = writing_calls(strace, tmp_path / "log", *command)
    new = folder.without_times()
    assert new.keys() == old.keys() and all(new[name] != old[name] for name in new)

    states = []
    for call in calls:
        folder.begin()
        subprocess.run([*at_call(strace, *call), *command], capture_output=True)
        files = folder.without_times()
        changed = {name for name in old if files[name] != old[name]}
        assert all(files[name] == new[name] for name in changed), call
        assert "out" not in changed or changed == old.keys(), call
        states.append(changed)
    assert set() in states and any(states), "the link was killed too early or too late"
    if flag != BY_LLD:
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


def test_texts_of_their_own_names(tmp_path, folder):
    """What is held back is known by its own name: to lists of dependencies, and to --reproduce.
    Where --time-trace has no name, its file has the output's."""
    ld(*folder.link, f"--reproduce={tmp_path / 'kept.tar'}")
    files = folder.contents()
    assert files.keys() == folder.old.keys()
    assert files["deps"].startswith(f"{folder.path / 'out'}:".encode())
    for text in (*files.values(), (tmp_path / "kept.tar").read_bytes()):
        assert b"-frontload-" not in text
    ld(*folder.link, "--time-trace")
    assert (folder.path / "out.time-trace").read_bytes().startswith(b"{")


def test_links_and_rights(tmp_path, folder):
    """An output takes the place of a link, as lld's does; a text goes to where the link leads, and
    keeps the rights of what was there."""
    elsewhere = folder.path.rename(tmp_path / "elsewhere")
    folder.path.mkdir()
    for name in ("out", "map"):
        (folder.path / name).symlink_to(f"../elsewhere/{name}")
    os.link(elsewhere / "deps", folder.path / "deps")
    (elsewhere / "map").chmod(0o640)
    ld(*folder.link)
    assert not (folder.path / "out").is_symlink() and (folder.path / "map").is_symlink()
    assert (elsewhere / "out").read_bytes() == b"the old out"
    assert b"helper" in (elsewhere / "map").read_bytes()
    assert (elsewhere / "map").stat().st_mode & 0o777 == 0o640
    assert (elsewhere / "deps").read_bytes() == b"the old deps"


def test_texts_that_are_no_files(tmp_path):
    """They are written where they are: to the standard output, whatever that is, and to a pipe."""
    folder, pipe, stdout = Folder(tmp_path / "files", ()), tmp_path / "pipe", tmp_path / "stdout"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # so that nobody waits for the other
    # As /dev/stdout, where lld can try to write beside it.
    (tmp_path / "link").symlink_to("/proc/self/fd/1")
    with stdout.open("wb") as stream:
        subprocess.run([LD_FRONTLOAD, *folder.link, f"-Map={tmp_path / 'link'}",
                        f"--dependency-file={pipe}"], stdout=stream, check=True)
    assert os.read(reader, 1 << 16).startswith(f"{folder.path / 'out'}:".encode())
    os.close(reader)
    assert b"helper" in stdout.read_bytes()


@pytest.mark.parametrize("name", ["map", "out", "."])
def test_what_may_not_be_written(folder, ordinary, name):
    """lld does not write to such a text; an output is a new file, so its rights do not matter. In a
    folder where nothing can be put, nothing is changed."""
    (folder.path / name).chmod(0o555)
    result = subprocess.run([*ordinary, LD_FRONTLOAD, *folder.link], capture_output=True, text=True)
    if name == "out":
        assert result.returncode == 0
        assert folder.contents()["out"].startswith(b"\x7fELF")
    else:
        path = folder.path / ("out" if name == "." else name)
        assert re.search(f"cannot open .*{path}: Permission denied", result.stderr)
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
    # lld waits for a reader of its map when all the other texts are open.
    with subprocess.Popen([LD_FRONTLOAD, *folder.link, f"-Map={pipe}"],
                          stderr=subprocess.PIPE, text=True) as process:
        assert any("names found" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
    assert process.returncode == -signal.SIGINT
    assert folder.contents() == folder.old
