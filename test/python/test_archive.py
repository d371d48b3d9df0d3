"""Static libraries, as our own reader sees them: damaged ones are refused with a message."""

import tempfile
from pathlib import Path

import pytest
from frontload.base.errors import Failure
from frontload.elf import archive
from hypothesis import given
from hypothesis import strategies as st


def member(name: bytes, contents: bytes) -> bytes:
    return (name.ljust(48) + b"%-10d`\n" % len(contents) + contents
            + b"\n" * (len(contents) % 2))


NAMES = b"a-name-of-more-than-15-bytes.o/\n"
GOOD = (archive.MAGIC + member(b"/", b"\0\0\0\0") + member(b"//", NAMES) + member(b"a.o/", b"odd")
        + member(b"/0", b"even"))
FIELDS = st.text("0123456789/`\n ", max_size=12).map(str.encode)


def read(data: bytes) -> list[tuple[str, bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lib.a"
        path.write_bytes(data)
        return [(name.removeprefix(f"{path}"), contents)
                for name, contents in archive.members(path)]


def test_members_have_their_names_and_contents():
    assert read(GOOD) == [("(a.o)", b"odd"), (f"({NAMES[:-2].decode()})", b"even")]


@given(st.integers(0, len(GOOD)), st.integers(0, 60), st.binary(max_size=8) | FIELDS)
def test_any_damage_is_told_or_harmless(position, size, replacement):
    """No more is read than there is."""
    damaged = GOOD[:position] + replacement + GOOD[position + size:]
    try:
        found = read(damaged)
    except Failure as problem:
        assert problem.message
    else:
        assert sum(len(contents) for _, contents in found) <= len(damaged)


@pytest.mark.parametrize("name", [b"/9999", b"/x"])
def test_a_name_that_is_in_no_table_is_told(name):
    with pytest.raises(Failure, match="is not in the archive's table of names"):
        read(archive.MAGIC + member(b"//", NAMES) + member(name, b"x"))
