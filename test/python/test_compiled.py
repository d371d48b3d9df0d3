"""What tests compile is kept by content, and made once."""

import os

import places
import pytest
from compiled import command_key, kept


def test_the_same_is_made_once(tmp_path):
    """By the contents of files, not their times; what was interrupted is made anew."""
    file = tmp_path / "source/a.c"
    file.parent.mkdir()
    made = []

    def folder(*key):
        return kept(made.append, *key, store=tmp_path / "store")

    assert folder("a", 1) == folder("a", 1) and len(made) == 1
    assert len({folder("a", 1), folder("a", 2), folder("a1"), folder("a", 1, "")}) == 4
    file.write_text("one")
    before = folder(file.parent), folder(file)
    os.utime(file, (1, 1))
    assert (folder(file.parent), folder(file)) == before
    file.write_text("two")
    assert folder(file.parent) != before[0] and folder(file) != before[1]

    def fail(folder):
        (folder / "half").touch()
        raise InterruptedError

    with pytest.raises(InterruptedError):
        kept(fail, "key", store=tmp_path / "store")
    assert [path.name for path in folder("key").iterdir()] == [".complete"]


def test_what_a_command_names_is_part_of_its_key(tmp_path, monkeypatch):
    """A linker by its path or by its folder; the compiler; the environment."""
    linker, compiler, store = tmp_path / "gcc/ld.lld", tmp_path / "cc", tmp_path / "store"
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
    words = [part for part in command_key(["cc", f"-I{places.BUILD}"]) if isinstance(part, str)]
    assert not [word for word in words if str(places.BUILD) in word]
