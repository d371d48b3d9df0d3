"""Relocations: which places they name, against llvm-readobj; what packing saves, against links."""

import functools
import re
from tempfile import NamedTemporaryFile

import numpy as np
import pytest
from frontload.base.errors import BadData
from frontload.elf import relocations
from frontload.elf.loading import read_loading
from hypothesis import given
from hypothesis import strategies as st
from linking import check_run

pytestmark = pytest.mark.usefixtures("tools")

# Every kind of relocation, without a C library so that it links for any machine. The pointers lie
# in groups, far and near, and some at odd addresses, one of them across two pages.
EVERYTHING = """
extern int outside; int outside_function(int); extern __thread int outside_thread;
__attribute__((weak)) int own_function(int x) { return x + 1; } int own = 3;
static int inner = 5; int *mine = &own;
int *pointers[300] = {[0] = &inner, [1] = &inner, [64] = &inner, [65] = &inner, [150] = &inner};
struct __attribute__((packed, aligned(4096))) { char c[4093]; int *p; char more[6000]; int *q; }
  odd = {{1}, &inner, {1}, &outside};
static int implementation(int x) { return x; }
static void *choose(void) { return implementation; }
int indirect(int) __attribute__((ifunc("choose")));
int (*functions[])(int) = {own_function, outside_function, implementation};
int _start(int x) {
  return own_function(x) + outside_function(x) + indirect(x) + outside_thread + outside
         + *pointers[x] + own + *mine + *odd.p + functions[x](x);
}
"""
MACHINES = {"x86_64": 8, "i386": 4, "aarch64": 8}
PACKED = ["-shared", "--pack-dyn-relocs=relr"]


@pytest.fixture(scope="module")
def make(tmp_path_factory, llvm):
    """make(*options, machine=, source=): links a file with neither libc nor start files."""
    @functools.cache
    def make(*options, machine="x86_64", source=EVERYTHING):
        folder = tmp_path_factory.mktemp("made")
        (folder / "a.c").write_text(source)
        (folder / "b.c").write_text("int outside = 1; int outside_function(int x) { return x; } "
                                    "__thread int outside_thread;")
        pic = "-fPIC" if {"-shared", "-pie"} & set(options) else "-fno-pic"
        for name, flag in (("a", pic), ("b", "-fPIC")):
            check_run(llvm / "clang", f"--target={machine}-linux-gnu", "-O1", flag, "-c",
                      f"{name}.c", "-o", f"{name}.o", cwd=folder)
        check_run(llvm / "ld.lld", "-shared", "b.o", "-o", "libother.so", cwd=folder)
        check_run(llvm / "ld.lld", "a.o", *options, "-o", "app", cwd=folder)
        return folder / "app"

    return make


def relative(llvm, path) -> list[int]:
    """The addresses of relative relocations that llvm-readobj shows; it unpacks packed ones."""
    text = check_run(llvm / "llvm-readobj", "-r", path)
    return [int(address, 16) for address in re.findall(r"^ +(0x[0-9A-F]+) R_\S+_RELATIVE\b", text,
                                                       re.MULTILINE)]


@pytest.mark.parametrize("machine", MACHINES)
def test_packing_is_foretold_to_the_word(make, llvm, machine):
    path = make("-shared", machine=machine)
    word = MACHINES[machine]
    now, foretold = relocations.packing(read_loading(path))
    assert now == len(relative(llvm, path)) * (8 if machine == "i386" else 24)
    packed = read_loading(make(*PACKED, machine=machine))
    rest, then = relocations.packing(packed)
    assert rest == then == now // len(relative(llvm, path))  # the one at an odd address
    assert abs(foretold - rest - len(packed.packed) * word) <= word


@pytest.mark.parametrize("machine", MACHINES)
def test_packed_addresses_are_those_of_readobj(make, llvm, machine):
    packed = read_loading(make(*PACKED, machine=machine))
    found = [int(each) for part in relocations.unpacked(packed.packed, packed.word)
             for each in part]
    assert len(found) > 2 and set(found) < set(relative(llvm, make(*PACKED, machine=machine)))


def test_another_machine_has_nothing_to_pack(make):
    loading = read_loading(make(source="int _start(void) { return 1; }", machine="riscv64"))
    assert relocations.packing(loading) == (0, 0)
    assert len(relocations.copies(loading)) == 0


def pack(addresses: list[int], word: int) -> list[int]:
    """The encoding as the generic ABI describes it, one bit at a time."""
    words, waiting = [], sorted(set(addresses))
    while waiting:
        words.append(waiting.pop(0))
        base = words[-1] + word
        while True:
            bits = 0
            while waiting and (waiting[0] - base) % word == 0 and (
                    (waiting[0] - base) // word < 8 * word - 1):
                bits |= 2 << (waiting.pop(0) - base) // word
            if not bits:
                break
            words.append(bits | 1)
            base += (8 * word - 1) * word
    return words


@given(st.lists(st.integers(0, 4000).map(lambda n: 2 * n), max_size=60),
       st.lists(st.integers(0, 400).map(lambda n: 8 * n), max_size=200),
       st.sampled_from([4, 8]), st.integers(1, 5))
def test_packed_words_hold_what_was_packed(scattered, aligned, word, chunk):
    """Their number is that of a plain encoder, and unpacked they are the same addresses."""
    addresses = sorted({*scattered, *aligned})
    words = pack(addresses, word)
    assert relocations.packed_words(np.array(addresses, np.uint64), word) == len(words)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relocations, "_CHUNK", chunk)
        parts = list(relocations.unpacked(np.array(words, np.uint64), word))
    assert sorted(int(address) for part in parts for address in part) == addresses


@given(st.data())
def test_a_damaged_library_never_crashes_it(make, data):
    """Bytes of headers or tables changed, or the end cut off: figures, or a refusal."""
    damaged = bytearray(make(*PACKED).read_bytes())
    table = int.from_bytes(damaged[0x28:0x30], "little")
    place = st.integers(0, 63) | st.integers(64, 4000) | st.integers(table, len(damaged) - 1)
    for position in data.draw(st.lists(place, max_size=6)):
        damaged[position] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.just(len(damaged)) | st.integers(0, len(damaged))):]
    with NamedTemporaryFile() as file:
        file.write(damaged)
        file.flush()
        try:
            loading = read_loading(file.name)
            now, then = relocations.packing(loading)
            assert 0 <= then <= now + loading.word
            for part in relocations.unpacked(loading.packed, loading.word):
                assert part.dtype == np.uint64
        except BadData as problem:
            assert problem.message.startswith(f"{file.name}: ")
