"""Addresses resolve to the names that the rules in profile/addresses.py give them."""

import numpy as np
import pytest
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.elf.strings import Names
from frontload.elf.symbols import ABSOLUTE, UNDEFINED, Columns, Symbols
from frontload.profile.addresses import WINDOW, Resolver
from frontload.profile.startup_profile import LONGEST_STRETCH, Touched
from hypothesis import given
from hypothesis import strategies as st
from trace_writer import BLOCK, CODE, DATA, FUNCTION

FUNC, OBJECT, NOTYPE = constants.STT_FUNC, constants.STT_OBJECT, constants.STT_NOTYPE
LOCAL, GLOBAL, WEAK = constants.STB_LOCAL, constants.STB_GLOBAL, constants.STB_WEAK
TEXT, RODATA, DATA_SECTION, BSS = 1, 2, 3, 4


def linked(*symbols: tuple) -> elf.Elf:
    """A linked file with symbols (name, address, size, type, bind, section)."""
    strings = b"\0" + b"\0".join(symbol[0].encode() for symbol in symbols) + b"\0"
    offsets = np.cumsum([1] + [len(symbol[0].encode()) + 1 for symbol in symbols[:-1]])
    table = np.zeros(len(symbols), [("name", "u4"), ("info", "u1"), ("other", "u1"),
                                    ("value", "u8"), ("size", "u8")])
    for row, (_, address, size, kind, bind, _) in zip(table, symbols, strict=True):
        row["value"], row["size"], row["info"] = address, size, bind << 4 | kind
    sections = np.zeros(5, [("type", "u4"), ("addr", "u8")])
    return elf.Elf("app", True, b"", sections, [b"", b".text", b".rodata", b".data", b".bss"],
                   ["", "text", "rodata", "data", "bss"],
                   Symbols(lambda: Columns(
                       table["value"], table["size"], table["info"], table["other"],
                       np.array([symbol[5] for symbol in symbols]),
                       Names("app", lambda: strings, offsets[:len(symbols)]))))


def function(name, address, size=16, kind=FUNC, bind=GLOBAL, section=TEXT):
    return name, address, size, kind, bind, section


def datum(name, address, size=8, bind=GLOBAL, section=RODATA):
    return name, address, size, OBJECT, bind, section


def resolve(file: elf.Elf, *addresses: int, kind: int = FUNCTION) -> tuple[list[str], int]:
    kinds = np.full(len(addresses), kind, np.uint8)
    resolver = Resolver(file)
    resolved = resolver.resolve(kinds, np.array(addresses, np.uint64))
    return [name.name.decode() for name in resolver.names(resolved.numbers)], resolved.nameless


def test_an_address_inside_a_function_is_that_function():
    """Entry, middle and last byte belong to a function, the byte behind it does not. Where symbols
    nest, an address behind the inner one still belongs to the outer one."""
    file = linked(function("f", 0x1000, 16), function("g", 0x1020, 16))
    assert resolve(file, 0x1020) == (["g"], 0)
    assert resolve(file, 0x102f, 0x1008, 0x1024, 0x1000) == (["g", "f"], 0)
    assert resolve(file, 0xfff, 0x1010, 0x1030) == ([], 3)
    for kind in (BLOCK, CODE):
        assert resolve(file, 0x100c, kind=kind) == (["f"], 0)
    file = linked(function("outer", 0x1000, 0x100), function("inner", 0x1010, 0x10),
                  function("label", 0x1040, 0, kind=NOTYPE))
    assert resolve(file, 0x1018, 0x1030, 0x1041, 0x1040) == (["inner", "outer", "label"], 0)


@pytest.mark.parametrize(("better", "worse"), [
    (function("long_name", 0x1000), function("a", 0x1000, kind=NOTYPE)),
    (function("f.part.0", 0x1000), function("w", 0x1000, bind=WEAK)),
    (function("weak", 0x1000, bind=WEAK), function("loc", 0x1000, bind=LOCAL)),
    (function("longer", 0x1000), function("f.c", 0x1000)),
    (function("fz", 0x1000), function("faa", 0x1000)),
    (function("_ZC1", 0x1000), function("_ZC2", 0x1000)),
    (function("small", 0x1000, 4), function("larger", 0x1000, 32)),
    (function("local", 0x1000, bind=LOCAL), function("a", 0x1000, 0)),
])
def test_of_several_names_one_is_chosen_by_rule(better, worse):
    """Aliases give the same name in whatever order they stand, at the entry and inside."""
    for file in (linked(better, worse), linked(worse, better)):
        assert resolve(file, 0x1000)[0] == resolve(file, 0x1003)[0] == [better[0]]


def test_data_is_every_datum_that_a_granule_overlaps():
    """A granule of 16 bytes hides neighbours: all data that has bytes in it is touched."""
    file = linked(datum("before", 0x2000, 0x10), datum("a", 0x2010, 4),
                  datum("b", 0x2018, 8, section=DATA_SECTION), datum("after", 0x2020),
                  datum("wide", 0x1f00, 0x200), datum("empty", 0x2014, 0),
                  function("label", 0x2010, 8, kind=NOTYPE, section=RODATA))
    assert resolve(file, 0x2010, kind=DATA) == (["wide", "a", "b"], 0)


def test_symbols_elsewhere_are_not_found():
    """Undefined symbols, data in place of functions and nameless symbols resolve nothing."""
    file = linked(function("undefined", 0x1000, section=UNDEFINED),
                  function("absolute", 0x1000, section=ABSOLUTE),
                  datum("table", 0x1000, section=TEXT), function("", 0x1000))
    for kind in (FUNCTION, DATA):
        assert resolve(file, 0x1000, kind=kind) == ([], 1)


def touched(file: elf.Elf, *touches: tuple[int, int]) -> dict[str, Touched]:
    """How much of each name some touches (kind, address) touch."""
    kinds, addresses = np.array(touches, np.uint64).T
    resolver = Resolver(file)
    resolved = resolver.resolve(kinds.astype(np.uint8), addresses)
    return {name.name.decode(): amount for name, amount in resolver.names_of(resolved).items()}


def test_a_name_is_touched_where_a_granule_is_of_it():
    """Code tells the function by its exact address, data all that have bytes in the granule; the
    first window starts in a granule, and so ends in one, of which the rest needs another."""
    file = linked(function("f", 0x1008, 0x30), function("g", 0x1038, 0x18),
                  function("label", 0x2000, 0))
    assert touched(file, (CODE, 0x1008)) == {"f": Touched(8, 1)}
    assert touched(file, (CODE, 0x1012), (CODE, 0x1034), (CODE, 0x1038)) == {
        "f": Touched(24, 1), "g": Touched(8, 1)}
    assert touched(file, (CODE, 0x1012), (CODE, 0x1016)) == {"f": Touched(16, 1)}
    for kind in (FUNCTION, BLOCK):
        assert touched(file, (kind, 0x1008), (CODE, 0x2000)) == {"f": Touched(), "label": Touched()}
        assert touched(file, (kind, 0x1008), (CODE, 0x1020)) == {"f": Touched(16, 1)}
    file = linked(datum("a", 0x2000, 4), datum("b", 0x2008, 40), datum("big", 0x10008, 2 * WINDOW))
    assert touched(file, (DATA, 0x2000), (DATA, 0x2020)) == {
        "a": Touched(4, 1), "b": Touched(24, 1)}
    assert touched(file, (DATA, 0x10000), (DATA, 0x10000 + WINDOW)) == {"big": Touched(24, 2)}


def test_a_large_name_has_the_stretch_that_is_touched():
    """From the first touched byte to the last, counted from where the name begins."""
    file = linked(datum("big", 0x10008, WINDOW + 1), datum("small", 0x40000, WINDOW))

    def stretch(*addresses):
        ((_, amount),) = touched(file, *((DATA, address) for address in addresses)).items()
        return amount.stretch

    assert stretch(0x10000) == (0, 7)
    assert stretch(0x10aa0, 0x10320) == (0x318, 0xaa7)
    assert stretch(0x10010, 0x10000 + LONGEST_STRETCH) == (8, 7 + LONGEST_STRETCH)
    assert stretch(0x10010, 0x10010 + LONGEST_STRETCH) is None
    assert stretch(0x40000) is None


@given(st.sets(st.integers(0, 5 * WINDOW // 16), min_size=1, max_size=30))
def test_windows_are_the_fewest(numbers):
    """No cover by windows that start at a touched granule, as the best ones may, is smaller."""
    file = linked(datum("big", 0, 6 * WINDOW))
    fewest, left = 0, sorted(numbers)
    while left:
        fewest += 1
        left = [number for number in left if number >= left[0] + WINDOW // 16]
    amount = touched(file, *((DATA, 16 * number) for number in numbers))["big"]
    assert (amount.size, amount.windows) == (16 * len(numbers), fewest)
