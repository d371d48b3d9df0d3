"""Symbol tables and their names (elf/symbols.py, elf/strings.py): they are read as far as they are
asked for, nothing is made for each of many symbols, and any table has the names that its bytes say.
"""

import shutil
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from compiled import compile_to
from frontload.base.errors import BadData
from frontload.elf import file as elf
from frontload.elf import strings
from frontload.elf.strings import Names
from frontload.profile.addresses import Resolver
from frontload.profile.symbol_names import nameable
from frontload.profile.trace import FUNCTION
from hypothesis import given
from hypothesis import strategies as st
from places import LLVM

MANY = 20_000


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> str:
    """A program of so many functions."""
    source = ".globl _start\n_start: ret\n" + "".join(
        f".globl function_{i}\n.type function_{i},@function\nfunction_{i}: .skip 16\n"
        f".size function_{i},16\n" for i in range(MANY))
    return str(compile_to(tmp_path_factory.mktemp("many") / "many", LLVM / "clang", "-nostdlib",
                          f"--ld-path={LLVM / 'ld.lld'}", "-Wl,--build-id", "many.s",
                          sources={"many.s": source}))


def test_nothing_is_made_for_each_symbol(many, monkeypatch):
    """Neither for the names of a few addresses nor to search, by a name or by a part of it. To open
    a file reads no symbol at all."""
    with monkeypatch.context() as patch:
        patch.setattr("frontload.elf.symbols._read_columns", None)
        read = elf.read(many)
        assert read.build_id and read.linked and read.symbols is not None
    symbols = elf.read(many).symbols
    wanted = {b"function_%d" % i for i in range(0, MANY, MANY // 20)} | {b"no_such"}

    def work():
        resolver = Resolver(elf.read(many))
        start = resolver._functions.ranges.start
        found = resolver.resolve(np.full(3, FUNCTION, np.uint8), start[[5, 500, 5000]])
        return (resolver, resolver.names(found.numbers), symbols.names.find(wanted),
                symbols.names.having(b"_1999"))

    work()  # what is made once
    tracemalloc.start()
    try:
        made = work()
        blocks = sum(each.count for each in tracemalloc.take_snapshot().statistics("filename"))
    finally:
        tracemalloc.stop()
    _, names, (_, found), having = made
    assert len(names) == 3 and all(name.name.startswith(b"function_") for name in names)
    assert set(found) == wanted - {b"no_such"} and len(having) == 11
    assert blocks < MANY / 5


def test_a_file_that_changes_between_two_reads_is_refused(many, tmp_path):
    """Written to, or replaced, as linkers do: it would be half of one file, half of another."""
    path = Path(shutil.copy(many, tmp_path / "app"))
    read = elf.read(path)
    path.write_bytes(b"\x7fELF" + path.read_bytes()[4:] + b"more")
    with pytest.raises(BadData, match="changed while it was read"):
        read.symbols.names.all()
    read = elf.read(path)
    Path(shutil.copy(many, tmp_path / "other")).rename(path)
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
def test_every_table_has_the_names_that_its_bytes_say(made, wanted, text, piece):
    """Whatever a piece is, also if names overlap, have no end, or lie behind the table."""
    table, offsets = made
    expected = [table[offset:].partition(b"\0")[0] for offset in offsets]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_PIECE", piece)
        patch.setattr(strings, "_NAME_OVERLAP", 1 << 20)
        names = Names("a", lambda: table, np.array(offsets, np.uint32))
        assert names.all() == expected
        assert names.present().tolist() == [bool(name) for name in expected]
        rows, found = names.find(wanted)
        assert rows.tolist() == [i for i, name in enumerate(expected) if name in wanted]
        assert found == [expected[row] for row in rows]
        some = np.arange(0, len(offsets), 2)
        assert names.find(wanted, some)[0].tolist() == [i for i in rows if i % 2 == 0]
        if text and b"\0" not in text:
            assert names.having(text).tolist() == [
                i for i, name in enumerate(expected) if text in name]


def test_labels_that_tell_code_from_data_are_no_functions(tmp_path):
    """Each object of AArch64 has a $x. An order file with it would move all code."""
    source = '.globl _start\n_start: ret\n"$x": ret\n"$x.1": ret\nlabel: ret\n'
    path = compile_to(tmp_path / "labels", LLVM / "clang", "-nostdlib",
                      f"--ld-path={LLVM / 'ld.lld'}", "a.s", sources={"a.s": source})
    read = elf.read(path)
    code, _ = nameable(read)
    assert read.linked_symbols().names.some(np.flatnonzero(code)) == [b"label", b"_start"]
