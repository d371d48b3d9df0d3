"""Whatever ends a link, each file that it writes is as it was, or whole and new."""

import json
import os
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
from other_lld import other_lld

# What a link may write, by the option for it.
TEXTS = {"-Map": "map", "--dependency-file": "deps", "--time-trace": "trace",
         "--why-extract": "why", "--print-archive-stats": "archives", "--front-report": "report"}
OTHERS_TEXTS = ("-Map", "--dependency-file", "--time-trace", "--front-report")
# lld takes it as it is, and our check of the output finds the second address below the first.
UNSORTED = """.section .eh_frame_hdr,"a"
  .byte 1, 0x1b, 3, 0x3b
  .long 0, 2, 200, 0, 100, 0
"""


def arguments(tmp_path: Path, folder: Path, texts=TEXTS) -> list:
    """A link of a small program, with every text that lld writes, to files in `folder`."""
    program = compile_text(tmp_path, "a.c", TWO_FUNCTIONS)
    profile = write_profile(tmp_path, "main", "helper")
    return [program, "-e", "main", f"--startup-profile={profile}", "-o", folder / "out",
            *(f"{option}={folder / TEXTS[option]}" for option in texts)]


def make_old(folder: Path, texts=TEXTS) -> dict[str, bytes]:
    """Puts what is not to be lost where a link writes."""
    folder.mkdir(exist_ok=True)
    old = {name: f"the old {name}".encode() for name in ("out", *(TEXTS[t] for t in texts))}
    for name, text in old.items():
        (folder / name).write_bytes(text)
    return old


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def without_times(files: dict[str, bytes]) -> dict[str, object]:
    """A time trace is never the same again; a whole one can be read."""
    trace = files["trace"]
    return {**files, "trace": "events" if trace.startswith(b"{") and json.loads(trace) else trace}


@pytest.mark.parametrize(("version", "flag", "texts"), [
    (None, "--mmap-output-file", TEXTS), (None, "--no-mmap-output-file", TEXTS),
    ("22", "--mmap-output-file", ("-Map", "--time-trace"))])
def test_killed_at_any_call(tmp_path, strace, version, flag, texts):
    """Each file is the old one or the new one, and the output is new last of all."""
    folder = tmp_path / "files"
    command = [LD_FRONTLOAD, *arguments(tmp_path, folder, texts), flag,
               *([f"--lld={other_lld(version)}"] if version else [])]
    old = make_old(folder, texts)
    calls = writing_calls(strace, tmp_path / "log", *command)
    new = without_times(contents(folder))
    assert new.keys() == old.keys() and all(new[name] != old[name] for name in new)

    states = []
    for call in calls:
        shutil.rmtree(folder)
        make_old(folder, texts)
        subprocess.run([*at_call(strace, *call), *command], capture_output=True)
        files = without_times(contents(folder))
        changed = {name for name in old if files[name] != old[name]}
        assert all(files[name] == new[name] for name in changed), call
        assert "out" not in changed or changed == old.keys(), call
        states.append(changed)
    assert set() in states and any(states), "the link was killed too early or too late"
    if version is None:
        assert all(before <= after for before, after in pairwise(states))


@pytest.mark.parametrize("version", [None, "22"])
def test_a_failed_check(tmp_path, version):
    """All is as it was, and nothing is left beside it."""
    texts = OTHERS_TEXTS if version else TEXTS
    folder = tmp_path / "files"
    old = make_old(folder, texts)
    unsorted = compile_text(tmp_path, "unsorted.s", UNSORTED)
    result = ld(*arguments(tmp_path, folder, texts), unsorted,
                *([f"--lld={other_lld(version)}"] if version else []), code=1)
    assert ".eh_frame_hdr: entry 1 is out of order" in result.stderr
    assert contents(folder) == old


@pytest.mark.parametrize("error", ["an undefined symbol", "a report to a full device"])
def test_a_failed_link(tmp_path, error):
    """All is as it was, whether lld or what follows it has failed."""
    folder = tmp_path / "files"
    old = make_old(folder)
    (tmp_path / "full").symlink_to("/dev/full")
    flags = {"an undefined symbol": ["-u", "gone", "--require-defined=gone"],
             "a report to a full device": [f"--front-report={tmp_path / 'full'}"]}[error]
    ld(*arguments(tmp_path, folder), *flags, code=None)
    assert contents(folder) == old


def test_texts_of_their_own_names(tmp_path):
    """What is held back is known by its own name: to lists of dependencies, and to --reproduce."""
    folder = tmp_path / "files"
    folder.mkdir()
    ld(*arguments(tmp_path, folder), f"--reproduce={tmp_path / 'kept.tar'}")
    assert contents(folder).keys() == {"out", *TEXTS.values()}
    assert (folder / "deps").read_text().startswith(f"{folder / 'out'}:")
    for text in (*contents(folder).values(), (tmp_path / "kept.tar").read_bytes()):
        assert b"-frontload-" not in text


def test_errors_name_the_files(tmp_path):
    """A file that cannot be written has its own name in what lld says."""
    folder = tmp_path / "files"
    old = make_old(folder)
    link = arguments(tmp_path, folder)
    result = ld(*link, f"-Map={tmp_path / 'no' / 'map'}", code=1)
    assert f"cannot open map file {tmp_path / 'no' / 'map'}: No such file" in result.stderr
    result = ld(*link, f"--dependency-file={tmp_path / 'no' / 'deps'}", code=1)
    assert f"cannot open {tmp_path / 'no' / 'deps'}: No such file" in result.stderr
    assert contents(folder) == old


def test_a_text_without_a_name_follows_the_output(tmp_path):
    """Where --time-trace has no name, its file has the output's."""
    folder = tmp_path / "files"
    folder.mkdir()
    ld(*arguments(tmp_path, folder, ()), "--time-trace")
    assert contents(folder).keys() == {"out", "out.time-trace"}


def test_links_and_rights(tmp_path):
    """An output takes the place of a link, as lld's does; a text goes to where the link leads, and
    keeps the rights of what was there."""
    folder, elsewhere = tmp_path / "files", tmp_path / "elsewhere"
    folder.mkdir()
    make_old(elsewhere)
    for name in ("out", "map"):
        (folder / name).symlink_to(os.path.relpath(elsewhere / name, folder))
    os.link(elsewhere / "deps", folder / "deps")
    (elsewhere / "map").chmod(0o640)
    ld(*arguments(tmp_path, folder))
    assert not (folder / "out").is_symlink() and (folder / "map").is_symlink()
    assert (elsewhere / "out").read_bytes() == b"the old out"
    assert b"helper" in (elsewhere / "map").read_bytes()
    assert (elsewhere / "map").stat().st_mode & 0o777 == 0o640
    assert (elsewhere / "deps").read_bytes() == b"the old deps"


def test_texts_that_are_no_files(tmp_path):
    """They are written where they are: to the standard output, whatever that is, and to a pipe."""
    link = arguments(tmp_path, tmp_path, ())
    pipe, stdout = tmp_path / "pipe", tmp_path / "stdout"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader, \
            stdout.open("wb") as stream:
        subprocess.run([LD_FRONTLOAD, *link, "-Map=/dev/stdout", f"--dependency-file={pipe}"],
                       stdout=stream, check=True, capture_output=False)
        assert reader.stdout.read().startswith(f"{tmp_path / 'out'}:".encode())
    assert b"helper" in stdout.read_bytes()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                    reason="needs root and setpriv, which takes root's rights away")
@pytest.mark.parametrize("name", ["map", "out"])
def test_a_file_that_may_not_be_written(tmp_path, name):
    """lld does not write to such a text; an output is a new file, so its rights do not matter."""
    folder = tmp_path / "files"
    old = make_old(folder)
    (folder / name).chmod(0o444)
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", LD_FRONTLOAD]
    result = subprocess.run([*command, *arguments(tmp_path, folder)], capture_output=True,
                            text=True)
    if name == "map":
        assert f"cannot open {folder / 'map'}: Permission denied" in result.stderr
        assert contents(folder) == old
    else:
        assert result.returncode == 0
        assert contents(folder)["out"].startswith(b"\x7fELF")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                    reason="needs root and setpriv, which takes root's rights away")
def test_a_folder_that_may_not_be_written(tmp_path):
    """Nothing can be put there, so nothing is changed."""
    folder = tmp_path / "files"
    old = make_old(folder)
    link = arguments(tmp_path, folder)
    folder.chmod(0o555)
    result = subprocess.run(["setpriv", "--bounding-set=-all", "--inh-caps=-all", LD_FRONTLOAD,
                             *link], capture_output=True, text=True)
    assert f"cannot open output file {folder / 'out'}: Permission denied" in result.stderr
    assert contents(folder) == old


def test_a_crash_leaves_nothing(tmp_path):
    """A limit to the size of files ends lld in the midst of writing one."""
    folder = tmp_path / "files"
    old = make_old(folder)
    result = subprocess.run([LD_FRONTLOAD, *arguments(tmp_path, folder)], capture_output=True,
                            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE,
                                               (1024, 1024)))
    assert result.returncode == -signal.SIGXFSZ
    assert contents(folder) == old


def test_a_signal_leaves_nothing(tmp_path):
    """Ctrl-C in the midst of a link: all is as it was, and nothing lies beside it."""
    folder, pipe = tmp_path / "files", tmp_path / "pipe"
    old = make_old(folder)
    os.mkfifo(pipe)
    # lld waits for a reader of its map when all the other texts are open.
    with subprocess.Popen([LD_FRONTLOAD, *arguments(tmp_path, folder), f"-Map={pipe}"],
                          stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "names found" in line:
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
    assert contents(folder) == old
