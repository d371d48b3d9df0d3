"""The startup profile: what is written is read, merging has its laws, bad lines are named."""

import string
from collections import Counter

import pytest
from frontload.base.errors import BadData, Failure
from frontload.profile import format as profile
from frontload.profile import generations, kept_runs
from frontload.profile.block_counts import BlockCounts, Blocks, Shape
from frontload.profile.kept_runs import ID_DIGITS, MOST, KeptRun, KeptRuns
from frontload.profile.startup_profile import (
    KINDS,
    LONGEST_STRETCH,
    Name,
    Profile,
    Stretch,
    Touched,
    from_run,
)
from hypothesis import example, given
from hypothesis import strategies as st

raw_names = st.binary(min_size=1, max_size=12)
names = st.builds(Name, st.sampled_from(KINDS), st.sampled_from(profile.CLASSES), raw_names,
                  st.just(b"") | raw_names)
# Near to each other, so that some fit into one stretch, and others do not.
stretched = st.builds(lambda first, size: Touched(16, 1, Stretch(first, first + size - 1)),
                      st.integers(0, 20_000), st.integers(16, LONGEST_STRETCH))
touched = (st.builds(Touched, st.integers(1, 10**9), st.integers(1, 9), st.none(), st.just(False))
           | stretched | st.sampled_from([Touched(), Touched(inlinable=True)]))
runs = st.dictionaries(names, touched, max_size=6)


def merged(*parts: Profile) -> Profile:
    total = Profile(b"app", 0)
    for part in parts:
        total.add(part)
    return total


def from_runs(*touched: list[Name] | dict[Name, Touched]) -> Profile:
    return merged(*(from_run(b"app", run) for run in touched))


def function(name: str, file: str = "") -> Name:
    return Name("function", "text", name.encode(), file.encode())


def test_runs_that_know_nothing_of_cold_parts():
    """One such run is enough for the merged profile to say so; and what is written is read back."""
    exact, counting = (from_run(b"app", [function("main")]) for _ in range(2))
    counting.knows_cold_parts = False
    assert b"cold-parts" not in profile.to_bytes(exact)
    for parts in ((exact, counting), (counting, exact)):
        text = profile.to_bytes(merged(*parts))
        assert text.splitlines()[3] == b"cold-parts unknown"
        assert not profile.parse(text, "p").knows_cold_parts


def test_the_format_is_as_declared():
    """Two runs give exactly the lines that the declaration of the format says."""
    start, helper = function("_start"), function("helper", "main.c")
    data = {start: Touched(), helper: Touched(224, 1),
            Name("data", "rodata", b"_ZN4llvm8X86DescsE"): Touched(720, 3),
            Name("section", "rodata", b".rodata._ZN3foo3barEv", b"libFoo.a(Bar.cpp.o)"):
                Touched(48, 1),
            Name("string", "rodata", b"hello"): Touched(6, 1)}
    text = profile.to_bytes(from_runs([start], [start], [start], data))
    assert text.decode() == (
        "frontload-startup-profile 5\n"
        "program app\n"
        "runs 4\n"
        "data-runs 1\n"
        "kept-runs 51ce6ca6af43:1:data b6f2e650c416:3\n"
        "# kind class runs step touched name [file]\n"
        "function\ttext\t4\t+1\t-\t_start\n"
        "function\ttext\t1=1\t+1\t224\thelper\tmain.c\n"
        "data\trodata\t1\t+1\t720/3\t_ZN4llvm8X86DescsE\n"
        "section\trodata\t1\t+1\t48\t.rodata._ZN3foo3barEv\tlibFoo.a(Bar.cpp.o)\n"
        "string\trodata\t1\t+1\t6\thello\n")


TABLE = Name("data", "rodata", b"table")


def test_a_stretch_makes_the_version_3():
    """Without a stretch nothing changes, and without data nothing is said of it."""
    plain, stretch = ({TABLE: Touched(112, 1, each)} for each in (None, Stretch(656, 799)))
    assert profile.to_bytes(from_runs(plain)).startswith(b"frontload-startup-profile 2\n")
    assert b"data" not in profile.to_bytes(from_runs([function("main")]))
    assert from_run(b"app", [function("main")], data=True).data_runs == 1
    text = profile.to_bytes(from_runs(stretch))
    assert text.startswith(b"frontload-startup-profile 3\n")
    assert b"\t112@656-799\ttable\n" in text
    assert profile.parse(text, "p").touches[TABLE].touched == stretch[TABLE]


def at(first: int, last: int) -> Touched:
    return Touched(16, 1, Stretch(first, last))


@pytest.mark.parametrize(("runs", "expected"), [
    ([Touched(500, 1), Touched(20, 2), Touched()], Touched(500, 2)),  # the most of either
    ([at(700, 715), at(656, 671)], at(656, 715)),
    ([at(0, 15), at(LONGEST_STRETCH - 16, LONGEST_STRETCH - 1)], at(0, LONGEST_STRETCH - 1)),
    ([at(0, 15), at(LONGEST_STRETCH, LONGEST_STRETCH + 15)], Touched(16, 1)),
    # The third lies between the others, which do not fit together: what is lost stays lost.
    ([at(0, 15), at(20_000, 20_015), at(10_000, 10_015)], Touched(16, 1)),
    ([at(700, 715), Touched(16, 1)], Touched(16, 1)),
    ([at(0, 15), Touched()], at(0, 15)),  # a run that knows no bytes takes nothing away
])
def test_what_several_runs_touch_of_a_name(runs, expected):
    """The stretch holds theirs, unless it would be too long, or a run touched other places."""
    for order in (1, -1):
        made = from_runs(*({TABLE: touched} for touched in runs[::order]))
        assert made.touches[TABLE].touched == expected


def test_runs_that_went_astray_move_nothing():
    """What ninety-nine runs touch late stays late, if one touched it first, or nothing else."""
    names = [function(f"f{n:03}") for n in range(100)]
    usual = from_run(b"app", names)
    made = Profile(b"app", 0)
    made.add(usual, 98)
    made.add(from_run(b"app", [names[99], *names[:99]]))
    made.add(from_run(b"app", names[50:51]))
    assert [name for name, _ in made.in_order()] == names
    assert made.touches[names[99]].spread == ((0, 1, 0), (7, 98, 99))
    text = profile.to_bytes(made)
    assert b"\t+1@0:1:0,7:98:99\t-\tf099\n" in text
    assert made.kept.touches[names[50]] == 7 and made.kept.touches[names[99]].bit_count() == 2
    assert profile.parse(text, "p") == made
    made.kept = KeptRuns()
    text = profile.to_bytes(made)
    assert text.startswith(b"frontload-startup-profile 4\n")
    assert b"function\ttext\t99\t+1@0:1:0,7:98:99\t-\tf099\n" in text


def test_one_in_twenty_runs_counts():
    """As few as one of twenty runs are not astray: what they need first shall be there for them."""
    names = [function(f"f{n}") for n in range(20)]
    for usual, rank in ((1, 0), (19, 0), (20, 19)):
        last = from_runs(*[names] * usual, [names[19], *names[:19]]).touches[names[19]]
        assert last.rank == rank and len(last.spread) == 2


@given(st.lists(runs, min_size=1, max_size=4), raw_names)
def test_what_is_written_is_read_back(touched, program):
    """Reading returns every name, count and rank, whatever bytes the names have."""
    made = from_runs(*touched)
    made.program = program
    assert profile.parse(profile.to_bytes(made), "x") == made


@given(runs, runs, st.integers(1, 5))
def test_a_weight_is_that_many_runs(light, heavy, weight):
    """A part with a weight gives what it gives when merged as often as the weight says."""
    weighted = from_runs(light)
    weighted.add(from_runs(heavy), weight)
    repeated = from_runs(light, *[heavy] * weight)
    assert profile.to_bytes(weighted) == profile.to_bytes(repeated)


def test_no_more_runs_are_kept_than_bits():
    """Of many, the same are kept whatever was merged with what; names of the others remain."""
    runs = [[function("all"), function(f"only {run}")] for run in range(3 * MOST)]
    made = from_runs(*runs)
    assert len(made.kept.runs) == MOST and len(made.touches) == 3 * MOST + 1
    assert made.kept.touches[function("all")] == (1 << MOST) - 1
    text = profile.to_bytes(made)
    assert text.count(b"\t1=0\t") == 2 * MOST
    halves = from_runs(*reversed(runs[:100])), from_runs(*runs[100:])
    assert profile.to_bytes(merged(*halves)) == text
    assert profile.parse(text, "x") == made


def test_what_kept_runs_tell():
    """Only runs with data can have touched data."""
    kept: KeptRuns[str] = KeptRuns([KeptRun(1, 5, True), KeptRun(2, 3, False), KeptRun(3, 1, True)])
    assert (kept.of(has_data=True), kept.of(has_data=False)) == (0b101, 0b111)
    assert (kept.weight(0b101), kept.weight(0)) == (6, 0)
    ids = {kept_runs.identify(data, parts) for data in (False, True)
           for parts in ([], [b""], [b"a", b"b"], [b"b", b"a"], [b"ab"])}
    assert len(ids) == 10 and max(ids) < 16 ** ID_DIGITS


@given(st.binary(min_size=1, max_size=30))
@example(b"\\x41\\q\n\t\x7f\xff\xc3\xa9")
def test_names_are_escaped_to_one_field_of_text(name):
    """An escaped name has no control byte, is UTF-8, and comes back."""
    text = profile.escape(name)
    assert not any(byte < 0x20 or byte == 0x7f for byte in text)
    assert text.decode("utf-8")
    assert profile.unescape(text) == name


def test_empty_lines_comments_and_unknown_keys_are_passed_over():
    """What the format reserves for later, and what people add, does no harm."""
    text = (b"frontload-startup-profile 2\n\n# hello\nprogram a b\nnew \\key\nruns 1\n\n"
            b"function\ttext\t1\t+1\t-\tmain\n#function\ttext\n")
    read = profile.parse(text, "x")
    assert (read.program, read.runs, list(read.touches)) == (b"a b", 1, [function("main")])


HEAD = "frontload-startup-profile 2\nprogram app\nruns 2\n"
ENTRY = "function\ttext\t1\t+1\t-\tmain\n"
KEPT = HEAD + "kept-runs 000000000001:1 000000000002:1\n"
DATA = "data\tbss\t1\t+1\t16\tmain\n"
AGED = "frontload-startup-profile 5\nprogram app\nruns 5\ngenerations 2:2:0 1:1:0\n"
SEEN = "function\ttext\t5@2,1\t+1\t-\tmain\n"


@pytest.mark.parametrize(("line", "what", "text"), [
    (1, "not a startup profile", "hello\n"),
    (1, "version `1` is none of those from 2 to 6", "frontload-startup-profile 1\n"),
    (1, "version `7` is newer than this frontload, which reads versions 2 to 6",
     "frontload-startup-profile 7\n"),
    (1, "version `2\\x0d`", HEAD.replace("\n", "\r\n")),
    (4, "truncated: the last line has no newline", HEAD + ENTRY[:-1]),
    (2, "no header line", "frontload-startup-profile 2\nprogram app\n"),
    (3, "no header line", "frontload-startup-profile 2\nruns 1\n" + ENTRY),
    (4, "a second header line", HEAD + "runs 3\n"),
    (4, "6 or 7 fields, not 5", HEAD + "function\ttext\t1\t+1\tmain\n"),
    (5, "6 or 7 fields, not 1", HEAD + ENTRY + "<<<<<<< HEAD\n"),
    (4, "unknown kind `block`", HEAD + ENTRY.replace("function", "block")),
    (4, "unknown section class `.text`", HEAD + ENTRY.replace("text", ".text")),
    (4, "does not start with +", HEAD + ENTRY.replace("+1", "1")),
    (4, "first step", HEAD + ENTRY.replace("+1", "+0")),
    (4, "`+1` is not a number", HEAD + ENTRY.replace("+1", "++1")),
    (4, "`0:1:0` is not a spread", HEAD + ENTRY.replace("+1", "+1@0:1:0")),
    (4, "is not a spread", HEAD + ENTRY.replace("+1", "+1@0:1:0,2:1:1")),
    (4, "is not a spread", HEAD + ENTRY.replace("+1", "+1@0:1:0,0:1:0")),
    (4, "is not a spread", HEAD + ENTRY.replace("+1", "+1@2:1:2,1:1:1")),
    (4, "is not a spread", HEAD + ENTRY.replace("+1", "+1@0:1:0,1:0:1")),
    (4, "is not a spread", HEAD + ENTRY.replace("+1", "+1@0:1:0,1:1:1,2:1:2:1")),
    (4, "`x` is not a number", HEAD + ENTRY.replace("+1", "+1@0:x:0,1:1:1")),
    (4, "of 2 runs and rank 0, not of 1 and 0", HEAD + ENTRY.replace("+1", "+1@0:1:0,1:1:1")),
    (4, "touched by 3 of 2 runs", HEAD + ENTRY.replace("\t1", "\t3")),
    (4, "touched by 0 of 2 runs", HEAD + ENTRY.replace("\t1", "\t0")),
    (4, "touched by 1 of 0 runs with data", HEAD + DATA),
    (5, "touched by 2 of 1 runs with data", HEAD + "data-runs 1\n" + DATA.replace("1", "2", 1)),
    (5, "3 of 2 runs have data", HEAD + "data-runs 3\n" + DATA),
    (4, "`0` is not a number of touched", HEAD + ENTRY.replace("-", "0")),
    (4, "`9/1` is not a number of touched", HEAD + ENTRY.replace("-", "9/1")),
    (4, "`` is not a number", HEAD + ENTRY.replace("-", "9/")),
    (4, "touched bytes and their stretch", HEAD + ENTRY.replace("-", "9@0-7")),
    (4, "touched bytes and their stretch", HEAD + ENTRY.replace("-", "9@8-7")),
    (4, "touched bytes and their stretch", HEAD + ENTRY.replace("-", "9@0-16384")),
    (4, "touched bytes and their stretch", HEAD + ENTRY.replace("-", "9/2@0-15")),
    (4, "`` is not a number", HEAD + ENTRY.replace("-", "9@0")),
    (4, "empty name", HEAD + ENTRY.replace("main", "")),
    (4, "empty name", HEAD + ENTRY.replace("main", "main\t")),
    (4, "a backslash", HEAD + ENTRY.replace("main", "ma\\in")),
    (4, "converted line ends", HEAD + ENTRY.replace("\n", "\r\n")),
    (4, "not UTF-8", HEAD + ENTRY.replace("main", "ma\udcffin")),
    (5, "second entry for the same name", HEAD + ENTRY + ENTRY),
    (4, "stands for runs that could not have touched it", HEAD + ENTRY.replace("\t1", "\t1=1")),
    (5, "does not stand for kept runs", KEPT + ENTRY.replace("\t1", "\t1=g")),
    (5, "does not stand for kept runs", KEPT + ENTRY.replace("\t1", "\t1=10000000000000000")),
    (5, "runs that could not have touched it", KEPT + ENTRY.replace("\t1", "\t1=4")),
    (5, "1 runs, but 2 of the kept ones and at most 0 others", KEPT + ENTRY),
    (5, "1 runs, but 0 of the kept ones and at most 0", KEPT + ENTRY.replace("\t1", "\t1=0")),
    (4, "`0a:1` is not a kept run", HEAD + "kept-runs 0a:1\n" + ENTRY),
    (4, "`000000000001:0` is not a kept run", HEAD + "kept-runs 000000000001:0\n" + ENTRY),
    (4, "is not a kept run", HEAD + "kept-runs 000000000001:1:code\n" + ENTRY),
    (4, "the kept runs are not in their order", KEPT.replace("2:1", "1:1") + ENTRY),
    (4, "more than 64 kept runs", HEAD.replace("runs 2", "runs 65")
     + f"kept-runs {' '.join(f'{run:012x}:1' for run in range(65))}\n" + ENTRY),
    (5, "a kept run counts 1, in generation 1 of 0", KEPT.replace("2:1", "2:1@1") + ENTRY),
    (5, "keeps 3 of 2 runs", KEPT.replace("2:1", "2:2") + ENTRY),
    (5, "keeps 1 of 0 runs with data", KEPT.replace("2:1", "2:1:data") + ENTRY),
    (4, "`5@2,1` is not a number", AGED[:AGED.index("generations")] + SEEN),
    (5, "no generations", AGED.replace("file 5", "file 4") + SEEN),
    (5, "the generations have 5 runs, 0 with data, not 6 and 0",
     AGED.replace("runs 5", "runs 6") + SEEN),
    (5, "know of cold parts", AGED.replace("1:1:0", "1:1:0:cold-parts-unknown") + SEEN),
    (4, "not in their order", AGED.replace("2:2:0 1:1:0", "1:1:0 2:2:0") + SEEN),
    (4, "not in their order", AGED.replace("1:1:0", "2:1:0") + SEEN),
    (4, "no generation has a label", AGED.replace("2:2:0 1:1:0", "-:5:0") + SEEN),
    (4, "more than 16 generations", AGED.replace("2:2:0 1:1:0", " ".join(
        f"{n}:1:0" for n in range(17, 0, -1))) + SEEN),
    (4, "`1:1` is not a generation", AGED.replace("1:1:0", "1:1") + SEEN),
    (4, "`1:1:0:hot` is not a generation", AGED.replace("1:1:0", "1:1:0:hot") + SEEN),
    (4, "1 of 0 runs have data", AGED.replace("1:1:0", "1:0:1") + SEEN),
    (4, "0 of 0 runs have data", AGED.replace("1:1:0", "1:0:0") + SEEN),
    (4, "`é` is not a label", AGED.replace("2:2:0", "é:2:0") + SEEN),
    (5, "runs of 1 generations, not of 2", AGED + SEEN.replace("2,1", "2")),
    (5, "runs of 3 generations, not of 2", AGED + SEEN.replace("2,1", "2,1,0")),
    (5, "are 5 in all, not 4", AGED + SEEN.replace("5@", "4@")),
    (5, "are 0 in all, not 0",
     AGED + SEEN.replace("5@2,1", "0@0,0").replace("+1", "+1@0:1:0,1:1:1")),
    (5, "touched by 3 runs of the generation `2`", AGED + SEEN.replace("5@2,1", "7@3,1")),
    (5, "touched by 1 runs of the generation `1`",
     AGED + SEEN.replace("function\ttext", "data\tbss").replace("5@2,1", "1@0,1")),
    (5, "of 3 runs and rank 0, not of 2 and 0", AGED + SEEN.replace("+1", "+1@0:1:0,1:2:1")),
    (5, "of 2 runs and rank 0, not of 1 and 0",
     AGED + SEEN.replace("5@2,1", "1@0,1").replace("+1", "+1@0:1:0,1:1:1")),
])
def test_a_bad_line_is_named(line, what, text):
    """Everything that the format does not allow is refused with its line number."""
    with pytest.raises(BadData) as caught:
        profile.parse(text.encode("utf-8", "surrogateescape"), "app.startup")
    assert caught.value.message.startswith(f"app.startup:{line}: ") and what in caught.value.message
    assert caught.value.code == 65 and caught.value.note


@given(st.text(string.printable + "é\x01", max_size=80).map(str.encode) | st.binary(max_size=80))
def test_random_bytes_never_crash_the_reader(tail):
    """Any bytes behind a good header give a profile or BadData."""
    for head in (b"", HEAD.encode(), HEAD.encode() + b"function\ttext\t1\t+1\t",
                 HEAD.encode() + b"data-runs 1\nstring\trodata\t1\t+1\t6/2\t",
                 HEAD.encode() + b"data-runs 1\ndata\trodata\t1\t+1\t6@"):
        try:
            assert profile.to_bytes(profile.parse(head + tail, "x"))
        except BadData as problem:
            assert problem.code == 65


def test_a_profile_without_entries_or_none_is_refused(tmp_path):
    """The one is bad data; the other is a usage error that says how to make one."""
    path = tmp_path / "app.startup"
    with pytest.raises(Failure, match="No such file") as caught:
        profile.read(path)
    path.write_text(HEAD)
    with pytest.raises(BadData, match="no entries"):
        profile.read(path)
    assert "frontload profile TRACE" in caught.value.note and caught.value.code == 2


shapes = st.builds(Shape, raw_names, st.just(b"") | raw_names,
                   st.integers(0, 2**64 - 1).map(lambda number: b"%016x" % number))


@st.composite
def counts(draw):
    runs = draw(st.integers(1, 1000))
    ids = draw(st.lists(st.integers(0, 500), min_size=1, max_size=8, unique=True))
    return BlockCounts(runs, Counter({each: draw(st.integers(1, runs)) for each in ids}),
                       draw(st.sampled_from([b"", b"2.9", b"2.10", b"2026-11-24"])))


def with_blocks(blocks) -> Profile:
    made = from_run(b"app", [function("main")])
    made.blocks = Blocks(blocks)
    return made


@given(*[st.dictionaries(shapes, counts(), max_size=4)] * 3, st.integers(1, 5))
def test_merging_adds_up_blocks(a, b, c, weight):
    """Those that are written are read."""
    def merged(*parts):
        whole = Profile(b"app", 0)
        for part in parts:
            whole.add(profile.parse(profile.to_bytes(with_blocks(part)), "part"), weight)
        return whole.blocks

    found = merged(a, b, c)
    assert found == merged(c, a, b) and found.keys() == a.keys() | b.keys() | c.keys()
    for shape, each in found.items():
        parts = [part[shape] for part in (a, b, c) if shape in part]
        assert each.runs == weight * sum(part.runs for part in parts)
        for block, runs in each.blocks.items():
            assert runs == weight * sum(part.blocks[block] for part in parts)
        assert each.newest == max((part.newest for part in parts), key=generations.age)


@pytest.mark.parametrize("line", [
    "blocks:123:main 1 0", "blocks:0123456789abcdef: 1 0", "blocks:0123456789abcdef:main 1",
    "blocks:0123456789abcdef:main 1 0,0", "blocks:0123456789abcdef:main 1 2,1",
    "blocks:0123456789abcdef:main 1 0=2", "blocks:0123456789abcdef:main 2 0=2",
    "blocks:0123456789abcdef:main x 0", "blocks:0123456789abcdef:main 2 0=0",
    "blocks:0123456789abcdef:a:b:c 1 0", "blocks:0123456789ABCDEF:main 1 0",
    "blocks:0123456789abcdef:main 1 99999999999999999999", "blocks:0123456789abcdef:main 1 0 -",
    "blocks:0123456789abcdef:main 1 0 2.9 2.10"])
def test_bad_lines_of_blocks_are_said(line):
    with pytest.raises(BadData, match=":4: "):
        profile.parse(f"{HEAD}{line}\n{ENTRY}".encode(), "app.startup")


def test_show_counts_blocks(cli, tmp_path):
    made = with_blocks({Shape(b"main", b"", each * 16): BlockCounts(2, Counter({0: 2, 7: 1}))
                       for each in (b"0", b"1")})
    (tmp_path / "app.startup").write_bytes(profile.to_bytes(made))
    assert "basic blocks: 4 touched, of 1 function\n" in cli("info", tmp_path / "app.startup").out


def test_what_goes_takes_its_blocks_along():
    """A shape goes with the generation that had it last, or with its function."""
    def of(label, *hashes):
        made = with_blocks({Shape(b"main", b"", each * 16): BlockCounts(1, Counter({0: 1}))
                           for each in hashes})
        made.label(label)
        return made

    whole = of(b"1", b"1", b"a")
    whole.add(of(b"2", b"2", b"a"))
    whole.add(of(b"3", b"3"))
    whole.keep_generations(2)
    assert {shape.hash[:1]: counts.runs for shape, counts in whole.blocks.items()} == {
        b"2": 1, b"a": 2, b"3": 1}
    made = with_blocks({Shape(name, b"", b"0" * 16): BlockCounts(1, Counter({0: 1}))
                       for name in (b"main", b"gone")})
    made.leave_out_rare(0.5)
    assert [shape.name for shape in made.blocks] == [b"main"]
