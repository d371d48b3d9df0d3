"""The store of what tests compile: made once, never stale, and bounded."""

import fcntl
import os
import subprocess
import time
from pathlib import Path

import places
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


def test_the_same_is_made_once(counted, tmp_path):
    assert counted("a", 1) == counted("a", 1)
    assert counted.made == 1
    assert len({counted("a", 1), counted("a", 2), counted("a1"), counted("a", 1, "")}) == 4
    file = tmp_path / "source/a.c"
    file.parent.mkdir()
    file.write_text("one")
    before = counted(file.parent), counted(file)
    os.utime(file, (1, 1))
    assert (counted(file.parent), counted(file)) == before
    file.write_text("two")
    assert counted(file.parent) != before[0] and counted(file) != before[1]


def test_what_a_command_names_is_part_of_its_key(store, tmp_path, monkeypatch):
    """A linker by its path or by its folder; the compiler; the environment."""
    linker, compiler = tmp_path / "gcc" / "ld.lld", tmp_path / "cc"
    linker.parent.mkdir()

    def keys():
        commands = (("-B", linker.parent), (f"-B{linker.parent}",), (f"--ld-path={linker}",),
                    ("-O1",))
        return [kept(lambda folder: None, *command_key([compiler, *words]), store=store).name
                for words in commands]

    states = []
    for text in ("one", "two, longer"):
        for file in (linker, compiler):
            file.write_text(text)
            states.append(keys())
    monkeypatch.setenv("CPATH", "/elsewhere")
    states.append(keys())
    assert not set(states[1][:3]) & set(states[2][:3]) and states[1][3] == states[2][3]
    assert states[2][3] != states[3][3] != states[4][3]
    for folder in (places.BUILD, places.ROOT):
        words = [part for part in command_key(["cc", f"-I{folder}"]) if isinstance(part, str)]
        assert not [word for word in words if str(folder) in word]


def test_while_one_makes_it_others_wait(store):
    def make(folder: Path) -> None:
        with folder.with_suffix(".lock").open() as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    kept(make, "key", store=store)


def test_what_failed_or_was_interrupted_is_made_anew(store):
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        kept(fail, "key", store=store)
    folder = kept(lambda folder: (folder / "whole").touch(), "key", store=store)
    assert (folder / "whole").exists() and not (folder / "half").exists()


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
