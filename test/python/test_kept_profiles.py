"""Profiles that were made by earlier versions are read, and their names are found, for ever.

test/profiles has one of each version of the format. They are never made anew: a change that breaks
one of these tests breaks the profiles that users have checked in."""

import os
from pathlib import Path

import pytest
from frontload.profile import format as profile
from frontload.profile import resolver as names

pytestmark = pytest.mark.usefixtures("tools")

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


@pytest.fixture
def kept(tmp_path, run, llvm):
    """kept(version, *symbols): a profile as it is read by Python, and what the native reader finds
    of it in an object with these symbols: (name, symbol, how)."""

    def kept(version, *symbols):
        path = Path(__file__).parents[1] / "profiles" / f"version-{version}.startup"
        read = profile.read(path)
        assert profile.to_bytes(read) == path.read_bytes()
        kinds = [("rodata", "a") if "table" in name else ("text", "ax") for name in symbols]
        (tmp_path / "main.s").write_text('.file "main.c"\n' + "".join(
            f'.section .{kind}.f{i},"{flags}"\n{name}: .byte 0\n'
            for i, (name, (kind, flags)) in enumerate(zip(symbols, kinds, strict=True))))
        run(llvm / "clang", "-c", tmp_path / "main.s", "-o", tmp_path / "main.o")
        entries = [name.name.decode("utf-8", "replace") for name in read.touches]
        places = names.resolve(os.fspath(path), [os.fspath(tmp_path / "main.o")]).places
        return read, {(entries[place.entry], place.symbol.decode(), place.how)
                      for place in places}

    return kept


def test_version_6(kept):
    """It tells functions that only builds with hooks need have. Names with tags are found."""
    read, found = kept(6, "_ZN3lib3boxB8ne230100IiE3getEv", "camlA__f_79", "split")
    assert [name.name for name, touch in read.touches.items() if touch.touched.inlinable] == [
        b"_ZN3lib3boxB8ne220106IiE3getEv", b"gone"]
    assert found == {
        ("_ZN3lib3boxB8ne220106IiE3getEv", "_ZN3lib3boxB8ne230100IiE3getEv", "tag"),
        ("camlA__f_81", "camlA__f_79", "tag"), ("split.memprof.1", "split", "clone")}


def test_version_5(kept):
    """It tells the runs of each generation, by their age, and which of its runs touched what."""
    read, found = kept(5, "giant")
    assert (read.program, read.runs, read.data_runs, len(read.touches)) == (b"app", 11, 6, 5)
    assert read.generations == ((b"2.10", 2, 1, True), (b"2.9", 1, 1, True), (b"", 1, 0, True))
    (giant,) = [name for name in read.touches if name.name == b"giant"]
    assert (read.touches[giant].runs, read.touches[giant].by_generation) == (9, (2, 0, 1))
    assert [(run.weight, run.age) for run in read.kept.runs] == [(1, 0), (1, 0), (1, 1), (1, 2)]
    assert read.kept.touches[giant] == 0b1011
    assert found == {("giant", "giant", "exact")}


def test_version_3(kept):
    """It tells where large names were touched."""
    read, found = kept(3, "giant")
    assert (read.program, read.runs, read.data_runs, len(read.touches)) == (b"app", 3, 2, 5)
    assert {name.name: tuple(touch.touched.stretch) for name, touch in read.touches.items()
            if touch.touched.stretch} == {
        b"giant": (70000, 70063), b"keywords": (656, 799), b".rodata.words": (0, 15)}
    assert found == {("giant", "giant", "exact")}


def test_version_2(kept):
    """Whatever compilers do to names, they are found."""
    read, found = kept(2, *(name for name, _ in LATER.values()))
    assert (read.program, read.runs, read.data_runs, len(read.touches)) == (b"app", 3, 1, 19)
    assert found == {(name, *later) for name, later in LATER.items()}
