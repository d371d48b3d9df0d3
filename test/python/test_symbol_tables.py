"""Symbol tables and their names (elf/symbols.py, elf/strings.py): they are read as far as somebody
asks, nothing is made for each of many symbols, and names are found whatever their table looks like.
"""

import subprocess
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from frontload.base.errors import BadData
from frontload.elf import file as elf
from frontload.elf import strings
from frontload.elf.strings import Names, Strings
from frontload.profile.addresses import Resolver
from frontload.profile.trace import FUNCTION
from hypothesis import given
from hypothesis import strategies as st
from places import LLVM

MANY = 20_000


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> str:
    """A program of so many functions."""
    folder = tmp_path_factory.mktemp("many")
    lines = [".text", ".globl _start", "_start: ret"]
    lines += [f".globl function_{i}\n.type function_{i},@function\nfunction_{i}: .skip 16\n"
              f".size function_{i},16" for i in range(MANY)]
    (folder / "many.s").write_text("\n".join(lines) + "\n")
    subprocess.run([LLVM / "clang", "-c", folder / "many.s", "-o", folder / "many.o"], check=True)
    subprocess.run([LLVM / "ld.lld", folder / "many.o", "-o", folder / "many", "--build-id"],
                   check=True)
    return str(folder / "many")


def blocks_of(work) -> tuple[object, int]:
    """What some work returns, and how many blocks of memory it leaves."""
    work()  # what is made once
    tracemalloc.start()
    try:
        made = work()
        return made, sum(each.count for each in tracemalloc.take_snapshot().statistics("filename"))
    finally:
        tracemalloc.stop()


def test_who_opens_a_file_reads_no_symbols(many, monkeypatch):
    """Headers, sections and the build-id do."""
    monkeypatch.setattr("frontload.elf.symbols._read_columns", None)
    read = elf.read(many)
    assert read.build_id and read.linked and read.symbols is not None


def test_nothing_is_made_for_each_symbol(many):
    """Names for a few addresses among many symbols take a few objects."""
    def work():
        resolver = Resolver(elf.read(many))
        start = resolver._functions.ranges.start
        found = resolver.resolve(np.full(3, FUNCTION, np.uint8), start[[5, 500, 5000]])
        return resolver, resolver.names(found.numbers)

    (_, names), blocks = blocks_of(work)
    assert len(names) == 3 and all(name.name.startswith(b"function_") for name in names)
    assert blocks < MANY / 10


def test_names_are_searched_without_an_object_for_each(many):
    """By name, by a part of it, and whether one begins so."""
    symbols = elf.read(many).symbols
    wanted = {b"function_%d" % i for i in range(0, MANY, MANY // 20)} | {b"no_such"}

    def work():
        return (symbols.names.find(wanted), symbols.names.having(b"_1999"),
                symbols.names.any_begins([b"unction_", b"no"]))

    ((_, found), having, begins), blocks = blocks_of(work)
    assert set(found) == wanted - {b"no_such"} and len(having) == 11 and not begins
    assert blocks < MANY / 10


def test_a_short_name_is_searched_where_names_end(monkeypatch):
    """Of many names that have its letters, only those that end with them are looked at."""
    table = b"".join(b"f%d_of\0" % i for i in range(MANY)) + b"f\0"
    offsets = np.append(0, np.flatnonzero(np.frombuffer(table, np.uint8) == 0)[:-1] + 1)
    looked = []
    monkeypatch.setattr(strings, "_beginning", lambda window, text, real=strings._beginning: (
        looked.append(each) or each for each in real(window, text)))
    rows, found = Names(Strings.of("a", table), offsets).find([b"f"])
    assert (rows.tolist(), found) == ([MANY], [b"f"])
    assert len(looked) <= MANY + 1


def test_a_file_that_changes_between_two_reads_is_refused(many, tmp_path):
    """Its symbols would be half of one file and half of another."""
    path = tmp_path / "app"
    path.write_bytes(Path(many).read_bytes())
    read = elf.read(path)
    path.write_bytes(b"\x7fELF" + path.read_bytes()[4:] + b"more")
    with pytest.raises(BadData, match="changed while it was read"):
        read.symbols.names.all()


def test_a_file_that_is_replaced_is_refused(many, tmp_path):
    """The linker writes another file, and renames it."""
    path, other = tmp_path / "app", tmp_path / "other"
    for each in (path, other):
        each.write_bytes(Path(many).read_bytes())
    read = elf.read(path)
    other.rename(path)
    with pytest.raises(BadData, match="changed while it was read"):
        _ = read.symbols.value


some_text = st.binary(max_size=6) | st.sampled_from([b"", b"f", b"ff", b"fff", b"f.cold"])


@st.composite
def tables(draw) -> tuple[bytes, list[int]]:
    """A string table, and offsets of names, which may overlap and lie behind its end."""
    table = draw(st.lists(some_text, max_size=8).map(b"\0".join)) + draw(st.sampled_from(
        [b"", b"\0"]))
    return table, draw(st.lists(st.integers(0, len(table) + 2), max_size=12))


@given(tables(), st.sets(some_text, max_size=12), some_text, st.integers(1, 9))
def test_every_table_has_the_names_that_its_bytes_say(made, wanted, text, window):
    """Whatever a window is, also if names overlap, have no end, or lie behind the table."""
    table, offsets = made
    expected = [table[offset:].partition(b"\0")[0] for offset in offsets]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_WINDOW", window)
        patch.setattr(strings, "_NAME_OVERLAP", 1 << 20)
        for few in (0, 8):
            patch.setattr(strings, "_FEW", few)
            names = Names(Strings.of("a", table), np.array(offsets, np.uint32))
            assert names.all() == expected
            assert names.present().tolist() == [bool(name) for name in expected]
            rows, found = names.find(wanted)
            assert rows.tolist() == [i for i, name in enumerate(expected) if name in wanted]
            assert found == [expected[row] for row in rows]
            some = np.arange(0, len(offsets), 2)
            assert names.find(wanted, some)[0].tolist() == [i for i in rows if i % 2 == 0]
            assert dict(zip(expected, names.hashes().tolist(), strict=True)) == dict(
                zip(expected, strings.hashes_of(expected).tolist(), strict=True))
            if text and b"\0" not in text:
                assert names.having(text).tolist() == [
                    i for i, name in enumerate(expected) if text in name]
                assert names.any_begins([text]) == any(
                    name.startswith(text) for name in expected)
