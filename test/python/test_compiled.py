"""The store of what tests compile: made once, never stale, and bounded."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from compiled import command_key, compiled, kept, sweep


@pytest.fixture
def store(tmp_path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def counted(store):
    """counted(*key): keeps a folder by this key; `counted.made` says how many were made."""
    def counted(*key) -> Path:
        def make(folder: Path) -> None:
            counted.made += 1
            (folder / "made").write_text(str(key))

        return kept(make, *key, store=store)

    counted.made = 0
    return counted


def test_the_same_is_made_once(counted):
    assert counted("a", 1) == counted("a", 1)
    assert counted.made == 1
    assert len({counted("a", 1), counted("a", 2), counted("a1"), counted("a", 1, "")}) == 4


def test_a_path_stands_for_what_is_in_it(counted, tmp_path):
    """In a file, or in all files of a folder, whatever their times."""
    source = tmp_path / "source"
    (source / "sub").mkdir(parents=True)
    file = source / "sub" / "a.c"
    file.write_text("one")
    before = counted(source), counted(file)
    os.utime(file, (1, 1))
    assert (counted(source), counted(file)) == before
    file.write_text("two")
    assert counted(source) != before[0] and counted(file) != before[1]
    file.rename(source / "b.c")
    assert counted(source) not in before
    assert counted(str(source)) not in (before[0], counted(source))  # a text is not its path


def test_what_failed_or_was_interrupted_is_made_anew(store):
    """A folder that is not complete is nobody's."""
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        kept(fail, "key", store=store)
    folder = kept(lambda folder: (folder / "whole").touch(), "key", store=store)
    assert (folder / "whole").exists() and not (folder / "half").exists()


def test_two_processes_make_it_once(store, tmp_path):
    """The second waits for the first."""
    program = f"""
import time
from pathlib import Path
from compiled import kept
def make(folder):
    with open({str(tmp_path / "made")!r}, "a") as log:
        log.write("made\\n")
    while not Path({str(tmp_path / "both")!r}).exists():
        time.sleep(0.01)
Path({str(tmp_path)!r}, f"here{{__import__('os').getpid()}}").touch()
kept(make, "key", store=Path({str(store)!r}))
"""
    path = os.pathsep.join(sys.path)
    both = [subprocess.Popen([sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": path})
            for _ in range(2)]
    while len(list(tmp_path.glob("here*"))) < 2:
        assert all(process.poll() is None for process in both)
        time.sleep(0.01)
    (tmp_path / "both").touch()
    assert [process.wait(timeout=60) for process in both] == [0, 0]
    assert (tmp_path / "made").read_text() == "made\n"


def test_what_a_command_names_is_part_of_its_key(tmp_path, monkeypatch):
    """Sources, libraries, a linker by its path or by its folder; the compiler; the environment."""
    linker, library = tmp_path / "gcc" / "ld.lld", tmp_path / "libx.a"
    linker.parent.mkdir()
    compiler = tmp_path / "cc"
    for file in (linker, library, compiler):
        file.write_text("one")
        file.chmod(0o755)
    for command in ((compiler, "-B", linker.parent), (compiler, f"-B{linker.parent}"),
                    (compiler, f"--ld-path={linker}"), (compiler, library),
                    (compiler, f"-Wl,--whole-archive,{library}")):
        keys = []
        for text in ("one", "two, longer"):
            for file in (linker, library):
                file.write_text(text)
            keys.append(_keys_folder(tmp_path, command))
        assert keys[0] != keys[1], command
    before = command_key([compiler, "-O1"])
    assert before != command_key([compiler, "-O2"])
    monkeypatch.setenv("CPATH", "/elsewhere")
    assert before != command_key([compiler, "-O1"])
    monkeypatch.delenv("CPATH")
    assert before == command_key([compiler, "-O1"])
    compiler.write_text("another version")
    assert before != command_key([compiler, "-O1"])


def _keys_folder(tmp_path: Path, command) -> Path:
    return kept(lambda folder: None, *command_key(command), store=tmp_path / "keys")


def test_a_program_is_compiled_where_its_sources_are(store):
    program = compiled("cc", "-I.", "a.c", output="program", store=store, sources={
        "a.c": '#include "sub/b.h"\nint main(void) { return STATUS; }\n',
        "sub/b.h": "#define STATUS 7\n"})
    assert program.name == "program"
    assert subprocess.run([program]).returncode == 7
    with pytest.raises(AssertionError, match="error"):
        compiled("cc", "a.c", output="a", store=store, sources={"a.c": "no C"})


def test_what_nobody_uses_any_more_goes(counted, store):
    """By its age; beyond a limit of size what was used least recently; never what is in use."""
    old, older, new = (counted(name) for name in ("old", "older", "new"))
    now = time.time()
    for folder, age in ((old, 7200), (older, 9000)):
        os.utime(folder / ".complete", (now - age, now - age))
    sweep(store, keep_seconds=8000)
    assert old.exists() and new.exists() and not older.exists()
    sweep(store, keep_bytes=0)
    assert new.exists() and not old.exists()
    shutil.rmtree(new)
    counted.made = 0
    counted("new")
    assert counted.made == 1
