"""Prefetch lists that are made from startup profiles, for builds that were never recorded."""

import os

import pytest
from abilities import needs
from elftools.elf.elffile import ELFFile
from frontload.base.errors import Failure
from frontload.reading import from_profile, listing
from frontload.reading.listing import PAGE
from linking import check_run
from places import LLVM

pytestmark = pytest.mark.usefixtures("tools")

# Each function and each constant has a page of its own. `rest` is what a start does not reach: only
# a call of `never` follows it. `choose` jumps through a table without a name.
SOURCE = """
#define OWN __attribute__((noinline, aligned(4096)))
#define SKIP __asm__ volatile (".rept 8192\\n nop\\n .endr")
extern __attribute__((visibility("hidden"))) const char text[], other[];
__asm__(".section .rodata, \\"a\\"\\n .balign 4096\\n .Ltext: .fill 4096, 1, 1\\n"
        ".Lother: .fill 4096, 1, 2\\n .set text, .Ltext\\n .set other, .Lother\\n"
        ".text");
__attribute__((used, aligned(4096))) const char wide[5 * 4096] = {1}, sparse[18 * 4096] = {1};
volatile int sink;
OWN void never(void) { sink = other[9]; SKIP; }
OWN int _Unwind_Backtrace(int x) { return sink; }
OWN int last(int x) { return x > 7 ? _Unwind_Backtrace(x) : x + text[x]; }
OWN int choose(int x) {
  switch (x) {
  case 0: sink = 7; SKIP; break;
  case 1: sink = 1; break;
  case 2: sink = 77; break;
  case 3: last(4); sink = 5; break;
  case 4: sink = 0; last(9); break;
  }
  return last(x);
}
OWN int _start_(int x) {
  if (x > 5) { SKIP; never(); SKIP; }
  return choose(x);
}
OWN void _start(void) { _start_(1); for (;;); }
"""


def link(folder, target="x86_64"):
    """A program without libraries, of any architecture."""
    check_run(LLVM / "clang", f"--target={target}-linux-gnu", "-O1", "-fPIE", "-ffreestanding",
              "-funwind-tables", "-Wl,--eh-frame-hdr", "-nostdlib", "-static-pie",
              f"--ld-path={LLVM / 'ld.lld'}", "-Wl,--build-id=sha1", "-x", "c", "-",
              "-o", folder / "app", input=SOURCE)
    return folder / "app"


def pages_of_symbols(program):
    """The pages of the file in which its symbols are."""
    with open(program, "rb") as stream:
        elf = ELFFile(stream)
        return {symbol.name: next(elf.address_offsets(symbol["st_value"]), 0) // PAGE
                for symbol in elf.get_section_by_name(".symtab").iter_symbols()}


@pytest.mark.parametrize("target", ["x86_64", "aarch64"])
def test_code_tells_what_the_profile_cannot(tmp_path, startup, target):
    """Constants without a name and code behind jump tables are found; what only a call of an
    untouched function follows is left out."""
    program = link(tmp_path, target)
    page = pages_of_symbols(program)
    touched = from_profile.pages_of(startup("_start", "_start_", "choose", "last"), program)
    assert (touched.found, touched.missing) == (4, [])
    order = [number for first, count in touched.pages for number in range(first, first + count)]
    assert len(order) == len(set(order))
    assert order[0] == 0  # the ELF header
    wanted = [page[name] for name in ("_start", "_start_", "choose", "last", "text")]
    assert [number for number in order if number in wanted] == wanted
    assert page["choose"] + 1 in order  # the case of 8,192 instructions
    assert page["never"] not in order and page["other"] not in order
    assert page["_start_"] + 1 not in order


def test_only_an_unwinder_reads_the_tables_for_it(tmp_path, startup):
    """They follow the constants."""
    program = link(tmp_path)
    tables = pages_of_symbols(program)["sparse"] + 18
    for names, are_read in ((("last",), False), (("last", "_Unwind_Backtrace"), True)):
        pages = from_profile.pages_of(startup("_start", *names), program).pages
        assert any(first <= tables < first + count for first, count in pages) == are_read


@pytest.mark.parametrize("kind", ["-pie", "-no-pie"])  # they encode addresses differently
def test_a_cold_part_with_handlers_is_a_sign_of_unwinding(tmp_path, startup, kind):
    """The unwinder is in a library, whose functions the program's profile does not have."""
    room = '__asm__(".section .gcc_except_table, \\"a\\"\\n .fill 8192\\n .text");\n'
    source = (f'{room}extern "C" int sink = 0;\n__attribute__((noinline)) static void raise(int x) '
              '{ if (x) throw x; sink = 1; }\nextern "C" int catches(int x)\n'
              '{ try { raise(x); } catch (int thrown) { return sink + thrown; } return 0; }\n'
              f'extern "C" int plain(int x) {{ return x; }}\n{room}int main() {{ return 0; }}')
    check_run("g++", "-O2", "-fno-toplevel-reorder", f"-f{kind[1:]}", kind, "-x", "c++", "-",
              "-o", tmp_path / "app", input=source)
    with open(tmp_path / "app", "rb") as stream:
        handlers = (ELFFile(stream).get_section_by_name(".gcc_except_table")["sh_offset"] + 8192)
    for names, are_read in (("catches", "catches.cold"), True), (("catches", "plain"), False):
        pages = from_profile.pages_of(startup("_start", *names), tmp_path / "app").pages
        assert any(first <= handlers // PAGE < first + count for first, count in pages) == are_read


@pytest.mark.parametrize(("datum", "touched", "listed"), [
    ("wide", "16@8192-8207", [2]),  # where the profile says
    ("wide", "2000", range(5)),  # nowhere, but in many places
    ("sparse", "32", [])])  # in few: all of it would be too much for this start
def test_of_a_datum_what_the_profile_tells(tmp_path, datum, touched, listed):
    program, path = link(tmp_path), tmp_path / "data.startup"
    path.write_text("frontload-startup-profile 3\nprogram app\nruns 1\ndata-runs 1\n"
                    "function\ttext\t1\t+1\t16\t_start\n"
                    f"data\trodata\t1\t+1\t{touched}\t{datum}\n")
    first = pages_of_symbols(program)[datum]
    pages = {page for begin, count in from_profile.pages_of(path, program).pages
             for page in range(begin, begin + count)}
    assert [page for page in range(18) if first + page in pages][:5] == list(listed)


def test_data_of_one_name_differ_in_their_sizes(tmp_path):
    """No code refers to them; of one, all was touched."""
    path, sources = tmp_path / "data.startup", []
    path.write_text("frontload-startup-profile 3\nprogram app\nruns 1\ndata-runs 1\n"
                    f"data\trodata\t1\t+1\t{3 * 4096 - 16}\tsame\n")
    for pages, start in ((3, "void _start(void) {}"), (7, "")):
        sources.append(tmp_path / f"{pages}.c")
        sources[-1].write_text("__attribute__((used, aligned(4096))) static const char "
                               f"same[{pages} * 4096] = {{{pages}}}; {start}")
    program = tmp_path / "app"
    check_run("gcc", "-nostdlib", "-static-pie", *sources, "-o", program)
    first = program.read_bytes().index(b"\3" + bytes(3 * 4096 - 1)) // 4096
    other = program.read_bytes().index(b"\7" + bytes(3 * 4096 - 1)) // 4096
    listed = {page for begin, count in from_profile.pages_of(path, program).pages
              for page in range(begin, begin + count)}
    assert {first, first + 1, first + 2} <= listed and other not in listed


def test_a_stripped_program_needs_its_debug_file(tmp_path, startup):
    """With that, it has the same pages."""
    program, profile_path = link(tmp_path), startup("_start", "choose")
    whole = from_profile.pages_of(profile_path, program)
    check_run("objcopy", "--only-keep-debug", program, tmp_path / "app.debug")
    check_run("strip", program)
    with pytest.raises(Failure, match="is stripped") as refusal:
        from_profile.pages_of(profile_path, program)
    assert refusal.value.code == 65 and "debug information" in refusal.value.note
    check_run("objcopy", f"--add-gnu-debuglink={tmp_path / 'app.debug'}", program)
    assert from_profile.pages_of(profile_path, program) == whole


def test_missing_names_are_told(cli, tmp_path, startup):
    """In the words of all verbs; too many are an error, and the old list stays."""
    program, output = link(tmp_path), tmp_path / "app.files"
    made = cli("files", startup("_start", "choose", "gone"), "--binary", program, "-o", output,
               "--min-match", "50")
    assert "app.startup: 2 of 3 names found (66.66%)\n" in made.err
    assert "missing: gone\n" in made.err
    before = output.read_bytes()
    assert "less than 80%" in cli("files", startup("_start", "gone"), "--binary", program, "-o",
                                  output, code=1).err
    assert output.read_bytes() == before
    # The list is of the file at hand, and a list like any other.
    file, = listing.read(output).pages
    assert (file.path, file.size) == (str(program), program.stat().st_size)
    assert cli("files", output).out.encode() == before


def test_a_profile_and_a_binary_belong_together(cli, tmp_path, startup):
    program, profile_path = link(tmp_path), startup("_start")
    listed = tmp_path / "one.files"
    cli("files", profile_path, "--binary", program, "-o", listed)
    assert "with --binary" in cli("files", profile_path, code=65).err
    assert "No such file" in cli("files", "none", "--binary", program, code=2).err
    reading, writing = os.pipe()  # which is read once
    os.write(writing, listed.read_bytes())
    os.close(writing)
    assert cli("files", f"/dev/fd/{reading}").out == listed.read_text()
    os.close(reading)
    assert "no startup profile" in cli("files", listed, "--binary", program, code=2).err
    other = tmp_path / "other"
    other.write_bytes(program.read_bytes())
    assert "is of no given file" in cli("files", profile_path, startup("f", file="b.startup"),
                                        "--binary", program, code=2).err
    assert "no given profile" in cli("files", profile_path, "--binary", program, "--binary",
                                     other, code=2).err


LIBRARY = """
#define OWN __attribute__((noinline, aligned(4096)))
static const char table[3][4096] = {{1}, {2}, {3}};
int NAME_data[2000] = {1};
OWN int NAME_rare(int x) { NAME_data[1500] = table[2][x]; return x; }
OWN static int inner(int x) { NAME_data[0] = table[0][x]; return x; }
OWN int NAME_enter(int x) { return x > 99 ? NAME_rare(x) : inner(x) + table[1][x]; }
"""
MAIN = """
int one_enter(int), two_enter(int);
__attribute__((aligned(4096))) int unused(void) { return 1; }
int main(int argc, char **argv) { return one_enter(argc) + two_enter(argc) > 999; }
"""


@needs("ptrace", "lazy-files", "strace", "tmp-on-disk")
def test_the_list_is_that_of_a_recorded_start(frontload, cli, tmp_path):
    """Of a program with two libraries, in one call: nineteen pages in twenty are found, and few
    others are in the list."""
    for name in ("one", "two"):
        check_run("gcc", "-O1", "-fPIC", "-shared", "-Wl,--build-id", "-x", "c", "-", "-o",
                  tmp_path / f"lib{name}.so", input=LIBRARY.replace("NAME", name))
    program = tmp_path / "app"
    check_run("gcc", "-O1", "-x", "c", "-", "-x", "none", tmp_path / "libone.so",
              tmp_path / "libtwo.so", "-Wl,-rpath,$ORIGIN", "-o", program, input=MAIN)
    frontload("record", "-o", tmp_path / "traces", "--module", "libone.so", "--module",
              "libtwo.so", "--", program)
    profiles = []
    for name in ("app", "libone.so", "libtwo.so"):
        profiles.append(tmp_path / f"{name}.startup")
        cli("profile", tmp_path / "traces", "--program", name, "-o", profiles[-1])
    cli("files", *profiles, "--binary", program, "-o", tmp_path / "made.files")
    made = {file: set(pages) for file, pages in listing.read(tmp_path / "made.files").pages.items()}
    assert [os.path.basename(file.path) for file in made] == ["app", "libone.so", "libtwo.so"]
    frontload("record", "--all-files", "-o", tmp_path / "lists", "--", program)
    recorded = listing.read(tmp_path / "lists/app.1.files").pages
    needed = {(file, page) for file in made for page in recorded[file]}
    listed = {(file, page) for file, pages in made.items() for page in pages}
    assert len(needed & listed) >= 0.95 * len(needed)
    assert len(listed - needed) <= 0.1 * len(needed)
