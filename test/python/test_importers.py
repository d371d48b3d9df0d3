"""The importers: what each reads out of its format, in real samples and in odd corners."""

from pathlib import Path

import pytest
from foreign_texts import SHAPES
from frontload import importers
from frontload.base.errors import Failure
from frontload.importers import order_files, text_lines
from frontload.importers.interface import Mention, Source
from hypothesis import given
from hypothesis import strategies as st

DATA = Path(__file__).parent / "data"
TOUCHED = ["main", "_Z5earlyl", "_Z4leafl", "_ZL4spinl", "_Z4latel"]
AREAS = ["_ZNK3BoxIiE4areaEv", "_ZNK3BoxIdE4areaEv"]
CALLS = [*TOUCHED, "_ZN3BoxIiEC1Ei", "_ZN3BoxIdEC2Ed", *AREAS, "printf"]


@pytest.fixture
def read(tmp_path):
    """read(text or path, format=None, program="app"): the runs, as lists of mentions."""

    def read(given, format=None, program="app", left_out=None) -> list[list[Mention]]:
        path = given
        if not isinstance(given, Path):
            path = tmp_path / "input"
            path.write_bytes(given if isinstance(given, bytes) else given.encode())
        source = Source(str(path), program, False)
        runs = list(importers.choose(str(path), format).read(source))
        if left_out is not None:
            left_out.update(source.left_out._counts)
        return [list(run.mentions) for run in runs]

    return read


@pytest.fixture
def names(read):
    """Like read, for what is one run: its names."""

    def names(given, *args, **options) -> list[str]:
        [run] = read(given, *args, **options)
        return [mention.name.decode("utf-8", "surrogateescape") for mention in run]

    return names


@pytest.mark.parametrize(("sample", "runs"), [
    ("perf-chains.txt", [TOUCHED]),
    ("perf-samples.txt", [["_ZL4spinl"]]),
    ("perf-probes.txt", [["main", "_Z5earlyl", "_Z4leafl", "_Z4latel"]]),
    ("uftrace-dump.txt", [CALLS]),
    ("uftrace-replay.txt", [CALLS]),
    ("temporal.txt", [TOUCHED + AREAS, TOUCHED + AREAS[::-1]]),
    ("temporal-show.txt", [TOUCHED + AREAS, TOUCHED + AREAS[::-1]])])
def test_real_samples_are_told_and_read(read, sample, runs):
    """What the tools wrote is recognised without --format, and read in order of first touch."""
    found = read(DATA / sample)
    assert [[mention.name.decode() for mention in run] for run in found] == runs
    if "temporal" in sample:
        assert all(run[3] == Mention(b"_ZL4spinl", "text", b"sample.cpp") for run in found)


@pytest.mark.parametrize(("format", "text"), [(each[0], each[2]) for each in SHAPES],
                         ids=[f"{each[0]}: {each[1]}" for each in SHAPES])
def test_all_shapes_are_read(names, format, text):
    """The texts of all versions, options and processors mean the same."""
    assert names(text, format) == ["main", "outer", "inner"]


def test_lld_lines_mean_what_they_mean_to_lld(names):
    """White space at the ends, empty lines and # lines are nothing."""
    text = b"# made by hand\r\n main \t\r\n\r\nf #g\r\n#f\r\nmain\r\nodd\xff\r\n" + b"f" * 10_000
    assert names(text, "lld") == ["main", "f #g", "odd\udcff", "f" * 10_000]


@pytest.mark.parametrize(("section", "expected"), [
    (".text._Z3foov", ("text", "_Z3foov")),
    (".text.startup.main", ("text", "main")),
    (".text.hot", ("text", "hot")),
    (".text.f.part.0", ("text", "f.part.0")),
    (".rodata.table", ("rodata", "table")),
    (".data.rel.ro.local._ZTV3Foo", ("relro", "_ZTV3Foo")),
    (".data.rel.local.list", ("data", "list")),
    (".bss.zeros", ("bss", "zeros")),
    (".gnu.linkonce.t._Z3foov", ("text", "_Z3foov")),
    (".rodata.str1.1", None), (".rodata.cst16", None), (".rodata.f.str1.8", None),
    (".rodata..L.str", None), (".text", None), (".text.", None), ("main", None), (".init", None),
    (".text.hot.", None), (".text.unlikely.", None)])
def test_sections_hold_names(section, expected):
    """A section's name is a prefix, which tells the class, and a symbol, unless it has none."""
    mention = order_files.section_mention(section.encode())
    assert (mention and (mention.section_class, mention.name.decode())) == expected


@pytest.mark.parametrize("section", [
    ".text.startup", ".text.hot", ".text.unlikely", ".text.exit", ".data.rel", ".data.rel.local",
    ".data.rel.ro", ".data.rel.ro.local", ".bss.rel.ro"])
def test_a_section_of_many_may_hold_a_symbol_of_its_name(section):
    assert order_files.section_mention(section.encode()).is_doubtful
    assert not order_files.section_mention(section.encode() + b".f").is_doubtful


def test_gold_patterns_and_nameless_sections_are_counted(names):
    """What stands for no symbol is left out and counted, the rest is read."""
    left_out = {}
    text = (".text.main\n.text.*\n.text\n.text.startup\n.data.rel.ro.local\n.rodata.cst8\n"
            ".text.f?\n.data.counter\n")
    assert names(text, left_out=left_out) == ["main", "counter"]
    assert left_out == {"a pattern in place of a section's name": 2,
                        "a section whose name holds no symbol": 4}


def frame(name, file="/bin/app", address="1234"):
    return f"\t{address:>16} {name} ({file})\n"


def sample(*frames, header="app 5/5 1.000001:  100 cycles:u: "):
    return header + "\n" + "".join(frames) + "\n"


def test_a_callchain_counts_from_the_outside_in(names):
    """Outer functions have been entered before the inner ones, whatever stands first."""
    text = (sample(frame("b+0x5"), frame("a+0x4"), frame("main+0x3"))
            + sample(frame("d+0x5"), frame("a+0x9"), frame("c+0x4"), frame("main+0x3")))
    assert names(text) == ["main", "a", "b", "c", "d"]


def test_frames_of_no_function_of_the_program_are_passed_over(names):
    """Other files, inlined code, and the return address behind a call that never returns."""
    left_out = {}
    text = sample(frame("memcpy+0x1", "/lib/libc.so.6"), frame("[unknown]"), frame(""),
                  frame("twice", "inlined"), frame("f+0x4"), frame("behind+0x0"),
                  frame("main+0x3", "/bin/app (deleted)"), frame("entry_64+0x4", "[kernel]"))
    assert names(text, left_out=left_out) == ["main", "f"]
    assert left_out == {"an address of the program without a symbol": 2}
    assert names(sample(frame("f+0x0"))) == ["f"]  # entered, not returned to
    left_out = {}  # Several symbols may have a demangled name.
    text = sample(frame("ns::f+0x1"), frame("Box<int>+0x1"), frame("f(int)+0x1"), frame("g+0x1"))
    assert names(text, left_out=left_out) == ["g"] and list(left_out.values()) == [3]


ONE = "1234 main+0x1 (/bin/app)\n"


@pytest.mark.parametrize("text", [
    sample(frame("main+0x4", "/opt/my (old) programs/app", "1")), sample(frame("main")),
    sample(frame("main+0x4", "/bin/app+0x1234")), "my app 2  5 [001] 12.5: 7 cycles:u: " + ONE,
    "  a:b 5 12.5:  cpu/cycles/u: " + ONE, ":-1 -1 [000] 12.5: 7 cycles: " + ONE, "     " + ONE])
def test_samples_may_be_odd(names, text):
    assert names(text, "perf") == ["main"]


def test_processes_are_runs_if_both_numbers_are_there(read):
    """pid/tid tells processes from threads; a thread alone says nothing."""
    def at(who, name):
        return f"app {who} 1.5: 7 cycles:u: 12 {name}+0x1 (/bin/app)\n"
    both = read(at("5/5", "a") + at("6/6", "b") + at("5/7", "c"))
    assert [[mention.name for mention in run] for run in both] == [[b"a", b"c"], [b"b"]]
    assert len(read(at("5", "a") + at("6", "b"))) == 1


def test_probes_tell_functions_of_their_own_program(read):
    """Returns and other programs' probes do not count; a numbered probe may be of f or of f_1."""
    text = "".join(f"app 5/5 1.5: {event}: (55de)\n" for event in (
        "probe_app:main", "probe_app:f__return", "probe_libc:malloc", "mine:g", "probe_app:f_1"))
    [run] = read(text, program="app.bin")
    assert [(mention.name, mention.readings) for mention in run] == [
        (b"main", ()), (b"g", ()), (b"f_1", (("text", b"f_1"), ("text", b"f")))]


def test_a_dump_is_ordered_by_time_over_all_tasks(names):
    """Tasks stand one after the other; what a thread entered earlier comes first."""
    def entry(time, task, name):
        return f"{time // 10}.{time % 10:09}  {task}: [entry] {name}(55ed) depth: 0\n"
    text = ("uftrace file header: magic = 1\n\nreading 5.dat\n" + entry(100, 5, "main")
            + entry(300, 5, "join") + "reading 6.dat\n" + entry(200, 6, "work")
            + entry(301, 6, "join") + "0.000000001  6: [exit ] never(55) depth: 0\n")
    assert names(text) == ["main", "work", "join"]


def test_a_replay_may_have_arguments_fields_and_an_unfinished_end(names):
    """Only entries count: not the ends, comments, or the list of what was still running."""
    text = """# DURATION     TID      FUNCTION
            [  5] | main(2, "a {;") {
   1.0 us   [  5] |   f(1) = 2;
            [  5] |   /* linux:sched-out */
            [  5] |   g() { /* why */
            [  5] |   puts@libc.so.6();
            [  5] |   (anonymous namespace)::h();
   1.0 us   [  5] |   } /* g */

uftrace stopped tracing with remaining functions
================================================
task: 5
[0] main
"""
    left_out = {}
    assert names(text, left_out=left_out) == ["main", "f", "g"]
    assert sum(left_out.values()) == 2


@given(st.binary(max_size=200), st.integers(1, 50))
def test_lines_do_not_depend_on_the_pieces_they_are_read_in(tmp_path_factory, data, piece):
    path = tmp_path_factory.mktemp("lines") / "text"
    path.write_bytes(data)

    def read(size):
        with pytest.MonkeyPatch.context() as patch, path.open("rb") as stream:
            patch.setattr(text_lines, "_PIECE", size)
            try:
                return list(text_lines.lines(stream, "text", "", all_end=False))
            except Failure as problem:
                return type(problem)

    assert read(piece) == read(1 << 20)
    if not set(data) & {*range(9), 11, 12, 13, *range(14, 32), 127} and (
            not data.startswith(text_lines._MARK)):
        text = data.split(b"\n")
        text = text if text[-1] else text[:-1]
        assert read(piece) == list(enumerate(text, 1))
