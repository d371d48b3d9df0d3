"""The prefetcher as a library: what it consists of, and frontload_prefetch()."""

import errno
import os
import re

import noted
import pytest
from compiled import compile_to
from noted import INSTRUMENT, MIB, PROGRAMS, PT_LOAD, PT_NOTE
from places import SANITIZED

INCLUDE = INSTRUMENT / "prefetch/include"
ELSEWHERE = 1 << 41  # an address


@pytest.fixture
def call(tmp_path, run, library):
    """call(*paths): what frontload_prefetch() returns for each, by programs/call.c."""
    call = compile_to(tmp_path / "call", "gcc", f"-I{INCLUDE}", "call.c", library,
                      f"-Wl,-rpath,{library.parent}", sources={"call.c": PROGRAMS / "call.c"})
    return lambda *paths: [int(line) for line in run(call, *paths).stdout.splitlines()]


@pytest.fixture
def shared(program):
    """A shared library with a front of its own; a copy."""
    return program("-shared", "-fPIC", copy=True)


def test_it_needs_nothing_and_is_four_pages(library, llvm, run):
    """No library or TLS, one constructor, one relocation, one function for others."""
    text = run(llvm / "llvm-readelf", "-dlrW", library).stdout
    assert not any(word in text for word in ("NEEDED", "(INIT)", "TLS", "JMPREL"))
    assert re.search(r"INIT_ARRAYSZ\)? +8 ", text)
    assert "SONAME" in text and "[libfrontload-prefetch.so.1]" in text
    # Where lld links it, the IFUNC's address is a constant for whose place there is one more.
    relocations = [kind for kind in re.findall(r"R_\w+", text) if not kind.endswith("_RELATIVE")]
    assert len(relocations) == 1 and relocations[0].endswith("_IRELATIVE")
    names = run("nm", "-D", "--defined-only", "--format=just-symbols", library).stdout.split()
    assert names == ["frontload_prefetch"]
    # A sanitizer's checks need one more.
    size = max(f[2] + f[5] for _, f in noted.headers(library) if f[0] == PT_LOAD)
    assert size <= (6 if SANITIZED else 4) * 4096


def test_the_archive_needs_nothing(archive, run):
    """What the archive's members do not define, other members do: nothing of libc is called."""
    undefined, defined = (set(run("nm", which, "--format=just-symbols", archive).stdout.split())
                          for which in ("-u", "--defined-only"))
    undefined -= {"_GLOBAL_OFFSET_TABLE_"}  # which linkers make
    assert {name for name in undefined if not name.endswith(".o:")} <= defined


def test_a_library_that_will_be_opened(shared, call, asked, tmp_path):
    """Its front is asked for; without a note it is left alone, and the caller told."""
    assert asked(shared, tmp_path / "call", shared.path, code=0) == shared.pieces()
    assert call(shared.path) == [0]
    shared.write(b"")
    assert asked(shared, tmp_path / "call", shared.path, code=0) == []
    assert call(shared.path) == [-errno.ENODATA]


def test_files_that_cannot_be_read(call, tmp_path):
    """What open(2) or read(2) say is handed on; what is no regular file is not waited for."""
    empty, text, pipe = (tmp_path / name for name in ("empty", "text", "pipe"))
    empty.touch()
    text.write_text("#!/bin/sh\n" * 1000)
    os.mkfifo(pipe)
    assert call(tmp_path / "missing", text / "below", tmp_path, empty, text, pipe, "/dev/zero",
                "") == [-errno.ENOENT, -errno.ENOTDIR, -errno.EISDIR, -errno.ENODATA,
                        -errno.ENODATA, -errno.ESPIPE, -errno.ENODATA, -errno.ENOENT]


def header(offset: int, data: bytes):
    return lambda shared: noted.patch(shared.path, offset, data)


def note(**fields):
    return lambda shared: noted.change_header(shared.path, PT_NOTE, **fields)


def segment(**fields):
    """The front is in a segment of its own, that begins at the address ELSEWHERE."""
    def change(shared):
        noted.change_header(shared.path, PT_LOAD, vaddr=ELSEWHERE, **{"offset": 0, **fields})
        shared.write(noted.note([(ELSEWHERE, ELSEWHERE + fields.get("filesz", MIB))]))

    return change


DAMAGE = {
    "not ELF": header(0, b"\x7fELG"),
    "32 bits": header(4, b"\1"),
    "other byte order": header(5, b"\2"),
    "program headers far away": header(32, b"\xff" * 8),
    "program headers at the page's end": header(32, (4090).to_bytes(8, "little")),
    "program headers of another size": header(54, b"\x20\0"),
    "note far away": note(offset=(1 << 64) - 8),
    "huge note": note(offset=1 << 20, filesz=(1 << 64) - 1),
    "empty note": note(filesz=0),
    "cut note": lambda shared: noted.change_header(
        shared.path, PT_NOTE, offset=shared.room[0], filesz=len(noted.note(shared.ranges())) - 1),
    "huge segment": segment(filesz=(1 << 64) - 1 - ELSEWHERE),
    "segment far away": segment(offset=1 << 40, filesz=MIB),
    "segment at the end of all": segment(offset=(1 << 64) - 4096, filesz=MIB),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_files(shared, call, damage):
    """Damaged headers are no front, and no crash."""
    DAMAGE[damage](shared)
    assert call(shared.path) == [-errno.ENODATA]


def test_an_endless_front(shared, call, asked, tmp_path):
    """A hostile file that claims a front of 8 GiB is asked for up to 256 MiB only."""
    with open(shared.path, "r+b") as file:
        file.truncate(1 << 33)
    segment(filesz=1 << 33)(shared)
    assert asked(shared, tmp_path / "call", shared.path, code=0) == noted.pieces(0, 256 << 20)
