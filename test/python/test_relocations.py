"""What relocations cost, against llvm-readobj; and what changes, against links that do it."""

import functools
import json
import re
from collections import Counter
from tempfile import NamedTemporaryFile

import numpy as np
import pytest
from frontload.base.errors import BadData
from frontload.elf import file as elf
from frontload.elf import relocations, relocations_report
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
MACHINES = {"x86_64": ("R_X86_64_", 8), "i386": ("R_386_", 4), "aarch64": ("R_AARCH64_", 8)}
WAYS = {"shared": ["-shared"], "now": ["-shared", "-z", "now"],
        "pie": ["-pie", "libother.so", "-dynamic-linker", "/lib/ld.so"],
        "fixed": ["libother.so"],
        "packed": ["-shared", "--pack-dyn-relocs=relr"]}


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


def examine(path) -> relocations.Report:
    return relocations.examine(elf.read(path), read_loading(path))


def listed(llvm, path) -> list[tuple[int, str]]:
    """Addresses and types that llvm-readobj shows; it unpacks packed ones."""
    text = check_run(llvm / "llvm-readobj", "-r", path)
    return [(int(address, 16), kind)
            for address, kind in re.findall(r"^ +(0x[0-9A-F]+) (R_\S+)", text, re.MULTILINE)]


def then(report: relocations.Report, option: str, what: str) -> int:
    return {(change.option, change.what): change.then for change in report.changes}[option, what]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("machine", MACHINES)
def test_counts_are_those_of_readobj(make, llvm, machine, way):
    path = make(*WAYS[way], machine=machine)
    report = examine(path)
    prefix, word = MACHINES[machine]
    entries = listed(llvm, path)
    kind_of = {"RELATIVE": "relative", "64": "symbolic", "32": "symbolic", "ABS64": "symbolic",
               "GLOB_DAT": "symbolic", "JUMP_SLOT": "jump slots", "COPY": "copies",
               "IRELATIVE": "indirect functions"}
    expected = Counter(kind_of.get(kind.removeprefix(prefix), "thread-local")
                       for _, kind in entries)
    assert {"relative", "symbolic", "jump slots"} & set(expected)
    found = Counter({name: count.number for name, count in report.kinds.items()})
    packed = found.pop("packed relative", 0)
    found["relative"] += packed
    assert +found == +expected and (packed > 0) == (way == "packed")
    sizes = elf.read(path)
    assert report.bytes == sum(
        int(section["size"]) for name, section in zip(sizes.section_names, sizes.sections,
                                                      strict=True)
        if name in (b".rela.dyn", b".rela.plt", b".rel.dyn", b".rel.plt", b".relr.dyn"))
    if way != "fixed":
        pages = {end // 4096 for address, _ in entries for end in (address, address + word - 1)}
        assert report.pages == len(pages) > 2 and report.private_bytes == 4096 * len(pages)


def test_lazy_slots_of_a_fixed_program_are_not_written(make):
    """Where the program is at its own addresses the loader leaves them for the first call."""
    source = "int outside_function(int); int _start(int x) { return outside_function(x); }"
    ways = WAYS["fixed"], [*WAYS["fixed"], "-z", "now"], WAYS["pie"]
    assert [examine(make(*options, source=source)).pages for options in ways] == [0, 1, 1]


@pytest.mark.parametrize("machine", MACHINES)
def test_packing_is_foretold_to_the_word(make, machine):
    foretold = then(examine(make("-shared", machine=machine)), "-z pack-relative-relocs",
                    "relative relocations")
    packed = examine(make(*WAYS["packed"], machine=machine))
    size = packed.kinds["packed relative"].bytes + packed.kinds["relative"].bytes
    assert packed.kinds["relative"].number == 1
    assert abs(foretold - size) <= MACHINES[machine][1]
    assert not any(change.option == "-z pack-relative-relocs" for change in packed.changes)


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


@pytest.mark.parametrize("packing", ["none", "relr"])
def test_a_fixed_program_writes_fewer_pages(make, llvm, packing):
    """Without relative relocations only the pages of others are left; that holds for packed too."""
    path = make(*WAYS["pie"], "-z", "now", f"--pack-dyn-relocs={packing}")
    report = examine(path)
    others = {end // 4096 for address, kind in listed(llvm, path)
              if kind != "R_X86_64_RELATIVE" for end in (address, address + 7)}
    assert then(report, "-no-pie", "pages written") == len(others) < report.pages
    assert then(report, "-no-pie", "relative relocations") == 0
    for other in (make(*WAYS["shared"]), make(*WAYS["fixed"])):
        assert not any(change.option == "-no-pie" for change in examine(other).changes)


def test_binding_to_itself_is_foretold(make):
    """A library linked with the option looks up as many symbols as predicted."""
    report = examine(make("-shared"))
    bound = examine(make("-shared", "-Bsymbolic-functions"))
    assert then(report, "-Bsymbolic-functions", "symbols looked up") == (
        bound.lookups + bound.lazy_lookups)
    # A symbol is looked up once: the loader may do it again, but finds it where it has just been.
    report = examine(make("-shared", "-z", "now", source="""
        extern int outside; int own; static int inner; int _start(void) { return 0; }
        int *pointers[] = {&outside, &outside, &own, &inner, &inner};
    """))
    assert report.lookups == 2 and report.kinds["symbolic"].number == 3


@pytest.fixture
def checked(cli, startup):
    """checked(path, name, *options): what check says of a file in which startup touches a name."""
    return lambda path, name, *options: cli("check", path, "--profile", startup(name), *options).out


def test_no_relocations_and_unknown_machines(make, checked):
    for machine, said in (("x86_64", "relocations: none"), ("riscv64", "of an unknown machine")):
        path = make(source="int _start(void) { return 1; }", machine=machine)
        assert said in checked(path, "_start")
    assert json.loads(checked(path, "_start", "--json=-"))["relocations"] is None


def test_check_says_it_in_a_line_each(link, checked):
    """What there is, and what each option would change, in the units of people; JSON has all."""
    path = link("-pie", flags=["-fPIE"]).path
    short = checked(path, "main")
    lines = [line for line in short.splitlines() if "relocation" in line]
    assert re.match(
        r"relocations: \d+ relative, \d+ symbolic, .* of the file, \d pages written at the start "
        r"\(\d+\.\d kB\)$", lines[0])
    assert re.match(r"with -z pack-relative-relocs: relative relocations: \d+.* -> \d+.*", lines[1])
    report = json.loads(checked(path, "main", "--json=-"))["relocations"]
    found = examine(path)
    assert report["bytes"] == found.bytes and report["pages"] == found.pages
    assert report["changes"][0]["option"] == "-z pack-relative-relocs"


@given(st.data())
def test_a_damaged_library_never_crashes_it(make, data):
    """Bytes of headers or tables changed, or the end cut off: figures, or a refusal."""
    damaged = bytearray(make(*WAYS["packed"]).read_bytes())
    table = int.from_bytes(damaged[0x28:0x30], "little")
    place = st.integers(0, 63) | st.integers(64, 4000) | st.integers(table, len(damaged) - 1)
    for position in data.draw(st.lists(place, max_size=6)):
        damaged[position] = data.draw(st.integers(0, 255))
    del damaged[data.draw(st.just(len(damaged)) | st.integers(0, len(damaged))):]
    with NamedTemporaryFile() as file:
        file.write(damaged)
        file.flush()
        try:
            report = relocations.examine(elf.read(file.name), read_loading(file.name))
            assert relocations_report.summary(report).startswith("relocations: ")
        except BadData as problem:
            assert problem.message.startswith(f"{file.name}: ")
