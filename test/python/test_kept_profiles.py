"""Profiles that were made by earlier versions are read, and their names are found, for ever.

test/profiles has one of each version of the format. They are never made anew: a change that breaks
one of these tests breaks the profiles that users have checked in."""

import os
from pathlib import Path

from frontload.profile import format as profile
from frontload.profile import resolver as names

KEPT = Path(__file__).parents[1] / "profiles"

# The program one year later: what the compilers then made of the same functions.
LATER = {
    "_start": ("_start", "exact"), "helper": ("helper", "exact"),
    "promoted.llvm.1234": ("promoted.llvm.98", "suffix"),
    "unique.__uniq.99": ("unique.__uniq.1", "suffix"),
    "private.lto_priv.0": ("private", "suffix"), "versioned@@V1": ("versioned", "suffix"),
    "scalar.isra.0": ("scalar", "clone"), "constant.constprop.0": ("constant.isra.0", "clone"),
    "special.specialized.1": ("special", "clone"), "split.part.0": ("split.part.3", "suffix"),
    "split.cold": ("split", "part"), "_ZN3FooC1Ev": ("_ZN3FooC2Ev", "variant"),
    "_ZN3FooD0Ev": ("_ZN3FooD1Ev", "variant"),
    "_ZN3abc4main17h0123456789abcdefE": ("_ZN3abc4main17hfedcba9876543210E", "hash"),
    "_RNvCs1234_3abc4main": ("_RNvCs9876_3abc4main", "hash"),
    "table.7": ("table.8", "suffix"),
}


def test_version_5(tmp_path, run, llvm, build, monkeypatch):
    """Both readers understand all of it; it tells the runs of each generation, which weigh by
    their age, and which of its runs touched what."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", str(build / "bin"))
    path = KEPT / "version-5.startup"
    kept = profile.read(path)
    assert (kept.program, kept.runs, kept.data_runs, len(kept.touches)) == (b"app", 11, 6, 5)
    assert kept.generations == ((b"2.10", 2, 1, True), (b"2.9", 1, 1, True), (b"", 1, 0, True))
    assert profile.to_bytes(kept) == path.read_bytes()
    runs = {name.name: (touch.runs, touch.by_generation) for name, touch in kept.touches.items()}
    assert runs[b"giant"] == (9, (2, 0, 1)) and runs[b"forgotten"] == (1, (0, 0, 1))
    assert [(run.weight, run.age) for run in kept.kept.runs] == [(1, 0), (1, 0), (1, 1), (1, 2)]
    assert {name.name: word for name, word in kept.kept.touches.items()} == {
        b"_start": 15, b"giant": 11, b"forgotten": 8, b"keywords": 5, b"sparse": 4}
    (tmp_path / "main.s").write_text('.section .text.giant,"ax"\ngiant: .byte 0\n')
    run(llvm / "clang", "-c", tmp_path / "main.s", "-o", tmp_path / "main.o")
    resolved = names.resolve(os.fspath(path), [os.fspath(tmp_path / "main.o")])
    assert [place.symbol for place in resolved.places] == [b"giant"]


def test_version_3(tmp_path, run, llvm, build, monkeypatch):
    """Both readers understand all of it; it tells where large names were touched."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", str(build / "bin"))
    path = KEPT / "version-3.startup"
    kept = profile.read(path)
    assert (kept.program, kept.runs, kept.data_runs, len(kept.touches)) == (b"app", 3, 2, 5)
    assert profile.to_bytes(kept) == path.read_bytes()
    stretches = {name.name: tuple(touch.touched.stretch) for name, touch in kept.touches.items()
                 if touch.touched.stretch}
    assert stretches == {b"giant": (70000, 70063), b"keywords": (656, 799),
                         b".rodata.words": (0, 15)}
    (tmp_path / "main.s").write_text('.section .text.giant,"ax"\ngiant: .byte 0\n')
    run(llvm / "clang", "-c", tmp_path / "main.s", "-o", tmp_path / "main.o")
    resolved = names.resolve(os.fspath(path), [os.fspath(tmp_path / "main.o")])
    assert [place.symbol for place in resolved.places] == [b"giant"]


def test_version_2(tmp_path, run, llvm, build, monkeypatch):
    """Both readers understand all of it."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", str(build / "bin"))
    path = KEPT / "version-2.startup"
    kept = profile.read(path)
    assert (kept.program, kept.runs, kept.data_runs, len(kept.touches)) == (b"app", 3, 1, 19)
    assert profile.to_bytes(kept) == path.read_bytes()

    functions = "".join(f'.section .{"rodata" if "table" in name else "text"}.f{i},'
                        f'"a{"" if "table" in name else "x"}"\n{name}: .byte 0\n'
                        for i, (name, _) in enumerate(LATER.values()))
    (tmp_path / "main.s").write_text('.file "main.c"\n' + functions)
    run(llvm / "clang", "-c", tmp_path / "main.s", "-o", tmp_path / "main.o")
    resolved = names.resolve(os.fspath(path), [os.fspath(tmp_path / "main.o")])
    entries = [name.name.decode("utf-8", "replace") for name in kept.touches]
    found = {(entries[place.entry], place.symbol.decode(), place.how)
             for place in resolved.places}
    assert found == {(name, *later) for name, later in LATER.items()}
