"""frontload diff: what has changed between two profiles, and what that costs a linked program."""

import json

import pytest
from frontload.elf import file as elf
from frontload.measure import described_start, prediction
from frontload.profile import difference, made_trace, same_names, trace
from frontload.profile import format as profile
from frontload.profile.startup_profile import Name, Profile, Stretch, Touch, Touched, from_run
from hypothesis import given
from hypothesis import strategies as st

pytestmark = pytest.mark.usefixtures("tools")
HOSTILE = b"a\nb\x1b[31m\xff\t\xe2\x80\xae"  # a colour, no UTF-8, text turned around


def function(name: str, file: str = "") -> Name:
    return Name("function", "text", name.encode(), file.encode())


TABLE = Name("data", "rodata", b"table")


@pytest.fixture
def made(tmp_path):
    """made(file, {name: touch}, runs, data_runs): a profile; a list of names is that of one run."""

    def made(file, touches, runs=1, data_runs=0):
        names = {name if isinstance(name, Name) else function(name): touch for name, touch in (
            touches.items() if isinstance(touches, dict) else
            ((name, Touch(1, rank)) for rank, name in enumerate(touches)))}
        path = tmp_path / file
        path.write_bytes(profile.to_bytes(Profile(b"app", runs, names, data_runs)))
        return path

    return made


@pytest.fixture
def compared(cli, made):
    """compared(old, new, **more): the document that diff writes of two profiles of one run."""

    def compared(old, new, *options, **more):
        paths = made("old", old, **more), made("new", new, **more)
        return json.loads(cli("diff", *paths, *options, "--json", "-").out)

    return compared


def names(entries: list[dict]) -> list[str]:
    return [entry["name"] for entry in entries]


def test_names_go_and_come_in_the_order_of_their_profiles(compared):
    """What only one profile has, the earliest first, with all that the profile says of it."""
    found = compared(["main", "b", "a"], ["y", "main", "x"])
    assert (names(found["gone"]), names(found["come"])) == (["b", "a"], ["y", "x"])
    assert found["come"][1] == {"rank": 2, "runs": 1, "of_runs": 1, "touched_bytes": None,
                                "kind": "function", "class": "text", "name": "x", "file": None,
                                "last_seen": None}
    assert (found["shared"], found["moved"], found["renamed"]) == (1, [], [])


def test_a_name_has_moved_by_more_than_an_octave(compared):
    """The number of shared names before it, plus one, has more than doubled or halved."""
    old = [f"f{i}" for i in range(16)]
    for place, has_moved in ((3, True), (4, False), (14, False)):
        new = old.copy()
        new.insert(place, new.pop(8))  # from the place 8, so from 9 to 4, 5 or 15
        assert ("f8" in names([pair["new"] for pair in compared(old, new)["moved"]])) == has_moved


def test_what_has_moved_farthest_comes_first(compared):
    """By how many times later or earlier it is."""
    old = [f"f{i}" for i in range(16)]
    moved = compared(old, old[::-1])["moved"]
    ranks = [sorted((pair["old"]["rank"], pair["new"]["rank"])) for pair in moved]
    times = [(late + 1) / (early + 1) for early, late in ranks]
    assert ranks[0] == [0, 15] and len(times) > 4 and times == sorted(times, reverse=True)


def test_what_comes_and_goes_moves_nothing(compared):
    """A hundred names in front of all others leave these where they are among themselves."""
    old = [f"f{i}" for i in range(9)]
    new = [*(f"new{i}" for i in range(100)), *old]
    assert compared(old, new)["moved"] == compared(new, old)["moved"] == []


def test_the_overlap_weighs_names_by_their_runs(compared, cli, made):
    """The lower share of the runs, by the higher: (1 + 1/4) of (1 + 3/4 + 1/2)."""
    old = made("old", {"main": Touch(4, 0), "f": Touch(3, 1), "g": Touch(2, 2)}, runs=4)
    new = made("new", {"main": Touch(8, 0), "f": Touch(2, 1)}, runs=8)
    found = json.loads(cli("diff", old, new, "--json", "-").out)
    assert found["overlap"] == {"names": pytest.approx(100 * 1.25 / 2.25), "bytes": None,
                                "telling": 0}
    assert "overlap of the touched bytes: not known" in cli("diff", old, new).out


def test_the_overlap_of_bytes_is_of_names_that_tell_them(compared):
    """A name of which one profile knows no bytes does not count."""
    found = compared({"main": Touch(1, 0, Touched(100, 1)), "f": Touch(1, 1),
                      "g": Touch(1, 2, Touched(16, 1))},
                     {"main": Touch(1, 0, Touched(60, 1)), "f": Touch(1, 1, Touched(900, 1)),
                      "h": Touch(1, 2)}, data_runs=1)
    assert found["overlap"]["bytes"] == pytest.approx(100 * 60 / (100 + 16))
    assert found["overlap"]["telling"] == 2
    found = compared(["main"], {"main": Touch(1, 0), "f": Touch(1, 1, Touched(16, 1))})
    assert (found["overlap"]["bytes"], found["overlap"]["telling"]) == (None, 0)


def test_data_is_compared_if_both_profiles_have_runs_with_data(cli, made):
    """Where only one was recorded with data, its data has not come: nobody knows."""
    functions = made("old", {"main": Touch(1, 0)})
    both = made("new", {"main": Touch(1, 0), TABLE: Touch(1, 1)}, data_runs=1)
    result = cli("diff", functions, both)
    assert "not compared, because only the new profile has runs with data: 1 name" in result.out
    assert "overlap of the names: 100.00%" in result.out and "shared 1, gone 0," in result.out
    none = made("none", {"main": Touch(1, 0)}, data_runs=1)
    assert names(json.loads(cli("diff", none, both, "--json", "-").out)["come"]) == ["table"]


@pytest.mark.parametrize(("gone", "come", "how"), [
    (function("f.llvm.12"), function("f.llvm.7"), "suffix"),
    (function("f"), function("f.isra.0"), "clone"),
    (function("_ZN1AC1Ev"), function("_ZN1AC2Ev"), "variant"),
    (function("_ZN3app4main17h0123456789abcdefE"), function("_ZN3app4main17hfedcba9876543210E"),
     "hash"),
    (function("init", "a.c"), function("init", "lib.a(a.o)"), "exact"),
    (TABLE, TABLE._replace(section_class="relro"), "exact"),
    (function("f"), function("g"), None),
    (function("table"), TABLE, None),
    (Name("section", "rodata", b".rodata.f", b"a.o"), Name("section", "rodata", b".rodata.f.1",
                                                          b"a.o"), None),
])
def test_names_that_a_link_takes_for_the_same_are_renamed(compared, gone, come, how):
    """By the rules of frontload-resolve; a pair is shared, and neither gone nor come."""
    found = compared([gone], [come], data_runs=1)
    assert [(pair["old"]["name"], pair["new"]["name"], pair["how"]) for pair in found["renamed"]] \
        == ([(gone.name.decode(), come.name.decode(), how)] if how else [])
    assert (len(found["gone"]), len(found["come"])) == ((0, 0) if how else (1, 1))
    assert found["overlap"]["names"] == (100 if how else 0)


def test_a_name_is_renamed_once(compared):
    """Of two that may be the same, the surest; and one name is not two."""
    found = compared(["f.isra.0", "g.llvm.1"], ["f", "f.isra.5", "g.llvm.2", "g.llvm.3"])
    assert [(pair["old"]["name"], pair["new"]["name"], pair["how"])
            for pair in found["renamed"]] == [("f.isra.0", "f.isra.5", "suffix"),
                                              ("g.llvm.1", "g.llvm.2", "suffix")]
    assert names(found["come"]) == ["f", "g.llvm.3"]
    found = compared(["f.isra.0", "f.llvm.1"], ["f"])
    assert [pair["old"]["name"] for pair in found["renamed"]] == ["f.llvm.1"]


def test_local_names_of_one_source_are_the_same(compared):
    """A profile made with a map has objects where one made without has sources."""
    found = compared([function("init", "a.c"), function("init", "b.c")],
                     [function("init", "b.o"), function("init", "a.o")])
    assert {(pair["old"]["file"], pair["new"]["file"]) for pair in found["renamed"]} == {
        ("a.c", "a.o"), ("b.c", "b.o")}


def test_files_have_what_is_gone_and_come(cli, made):
    """By the file of local names, the one with most changes first."""
    old = made("old", ["main", function("a", "one.c"), function("b", "two.c")])
    new = made("new", ["main", function("c", "two.c"), "d"])
    found = json.loads(cli("diff", old, new, "--json", "-").out)["files"]
    assert found == [{"file": "two.c", "gone": 1, "come": 1}, {"file": None, "gone": 0, "come": 1},
                     {"file": "one.c", "gone": 1, "come": 0}]
    rows = [line.split() for line in cli("diff", old, new).out.splitlines()]
    assert ["two.c", "1", "1"] in rows and ["(not", "known)", "0", "1"] in rows


def test_lists_are_cut_unless_all_is_asked_for(cli, made):
    """Ten names say what has changed; --all has the rest."""
    paths = made("old", ["main"]), made("new", ["main", *(f"f{i}" for i in range(12))])
    assert "and 2 other names" in cli("diff", *paths).out and "f11" not in cli("diff", *paths).out
    assert "f11" in cli("diff", "--all", *paths).out


def test_equal_profiles_have_no_difference(cli, made):
    """Nothing is listed, and everything is the same."""
    path = made("old", {"main": Touch(2, 0, Touched(16, 1)), TABLE: Touch(1, 1, Touched(32, 1))},
                runs=2, data_runs=1)
    lines = cli("diff", path, path, "--min-overlap", "100").out.splitlines()
    assert lines[2:] == ["overlap of the names: 100.00%",
                         "overlap of the touched bytes: 100.00%, of 2 names that tell them",
                         "shared 2, gone 0, come 0, renamed 0, moved 0"]


def test_too_little_overlap_fails(cli, made):
    """The exit status is 0 whatever has changed, unless --min-overlap is missed."""
    paths = made("old", ["main", "f"]), made("new", ["main", "g"])
    assert cli("diff", *paths).code == 0
    cli("diff", *paths, "--min-overlap", "33")
    result = cli("diff", *paths, "--min-overlap", "34", code=1)
    assert "33.33% of the names are the same, less than 34%" in result.err
    assert "come: 1 name" in result.out


def test_profiles_of_two_programs_are_told(cli, tmp_path, startup):
    """They are compared, as a program may have been renamed."""
    (tmp_path / "other").write_bytes(profile.to_bytes(from_run(b"b", [function("main")])))
    assert "is a profile of app, " in cli("diff", startup("main"), tmp_path / "other").err


names_of_any_bytes = st.builds(Name, st.sampled_from(("function", "data", "string")),
                               st.just("text"), st.binary(min_size=1, max_size=3),
                               st.sampled_from((b"", b"a.c", b"\n\0")))
profiles = st.dictionaries(names_of_any_bytes, st.builds(
    Touch, st.integers(1, 3), st.integers(0, 9), st.builds(Touched, st.integers(0, 99),
                                                           st.just(1))), min_size=1).map(
    lambda touches: Profile(b"app", 3, touches, 3))


@given(profiles, profiles)
def test_every_name_is_somewhere_once(old, new):
    """Whatever bytes names have: shared, gone or come; and the overlap is the same backwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(same_names.resolver, "resolve_listed",
                      lambda *_: same_names.resolver.Resolved([], set()))
        found, back = difference.compare(old, new), difference.compare(new, old)
    assert {*found.gone, *(pair.old for pair in found.shared)} == old.touches.keys()
    assert {*found.come, *(pair.new for pair in found.shared)} == new.touches.keys()
    assert len(found.shared) + len(found.gone) == len(old.touches)
    assert (found.overlap, found.overlap_of_bytes) == (back.overlap, back.overlap_of_bytes)
    assert 0 <= found.overlap <= 1 and {pair.old for pair in found.moved} == {
        pair.old for pair in back.moved}


def test_names_of_any_bytes_are_looked_up(compared):
    """Those that cannot stand in a list of symbols are gone and come, and harm no other."""
    odd, odder = Name("function", "text", b"\xff f.llvm.1"), Name("function", "text", HOSTILE)
    found = compared([odd, odder], [odd._replace(name=b"\xff f.llvm.2"),
                                    odder._replace(name=HOSTILE + b".llvm.2"), "b"])
    assert len(found["renamed"]) == 1 and len(found["gone"]) == 1 and len(found["come"]) == 2


def test_names_are_escaped(cli, made):
    """No name steers a terminal or makes a line of its own."""
    odd = Name("function", "text", HOSTILE, HOSTILE)
    out = cli("diff", made("old", ["main", odd]), made("new", ["main", "x"])).out
    assert not {"\x1b", "\u202e", "\t"} & set(out) and "\nb" not in out


# Functions far enough apart that the readahead around one reaches no other, nor the file's start.
FAR = """
#define FILL __asm__ volatile(".fill 300000, 1, 0x90");
#define FAR(name) __attribute__((noinline)) int name(int x) { FILL return x * 3; }
FAR(other)
FAR(three)
static FAR(one)
static FAR(two)
int main(int argc, char **argv) { FILL return one(argc) + two(argc) + three(argc) == 1; }
"""


@pytest.fixture
def far(link, tmp_path):
    return link(f"-Wl,-Map={tmp_path / 'app.map'}", source=FAR, flags=("-O0",))


@pytest.mark.parametrize("has_map", [False, True])
def test_a_start_with_new_names_is_predicted(cli, made, far, tmp_path, has_map):
    """Each new name on a page of its own is a fault more, by the file that has it."""
    old = made("old", ["main", "gone"])
    new = made("new", ["main", function("one", "app.c"), function("two", "app.c"), "three"])
    options = ["--map", tmp_path / "app.map"] if has_map else []
    result = cli("diff", old, new, "--binary", far.path, *options, "--json", tmp_path / "out.json")
    predicted = json.loads((tmp_path / "out.json").read_text())["predicted"]
    assert (predicted["old"]["names"], predicted["old"]["missing"]) == (1, 1)
    assert predicted["new"]["major_faults"] == predicted["old"]["major_faults"] + 3
    files = {each["file"]: (each["names"], each["pages"], each["added"]["major_faults"])
             for each in predicted["files"]}
    assert files == ({"app.o": (3, 3, 3)} if has_map else {"app.c": (2, 2, 2), None: (1, 1, 1)})
    assert "profiles of functions alone" in result.err
    faults = [str(predicted[label]["major_faults"]) for label in ("old", "new")]
    rows = [line.split() for line in result.out.splitlines()]
    assert [row[3] for row in rows if row[:1] in (["old"], ["new"])] == faults


def test_a_described_start_is_predicted_as_the_recorded_one(cli, far, tmp_path):
    """The profile of one run of functions says all that its trace says."""
    path = far.trace(tmp_path / "t", "main", "three", "one")
    cli("profile", path, "-o", tmp_path / "p")
    (recorded,) = prediction.ask(far.path, [path], far.path, ["--device=ssd"])["predictions"]
    start = described_start.read(str(tmp_path / "p"), str(far.path))
    described = described_start.compare(str(far.path), start, start, lambda name: b"")
    for label in ("old", "new"):
        assert {key: described[label][key] for key in described_start.FIGURES} == {
            key: recorded["devices"]["ssd"][key] for key in described_start.FIGURES}
    assert described["files"] == []


def test_a_start_touches_what_half_of_the_runs_touch(made, far):
    """Names that fewer touch, and those without symbols, are left out and counted."""
    section = Name("section", "rodata", b".rodata.f", b"a.o")
    path = made("p", {"main": Touch(4, 0), "three": Touch(1, 1), section: Touch(1, 2),
                      "nowhere": Touch(2, 3)}, runs=4, data_runs=1)
    start = described_start.read(str(path), str(far.path))
    assert [name.name for name in start.touched] == [b"main"]
    assert (start.missing, start.not_sought) == (1, 1)
    assert start.places.keys() == {function("main"), function("three")}


def test_the_bytes_that_a_profile_tells_are_touched(made, far):
    """From the first on, or in their stretch; of a name that tells none, the first."""
    at = far.addresses["three"]
    for touched, first, end in ((Touched(), 0, 1), (Touched(5000, 1), 0, 5000),
                                (Touched(16, 1, Stretch(9000, 9099)), 9000, 9100)):
        path = made("p", {"three": Touch(1, 0, touched)})
        start = described_start.read(str(path), str(far.path))
        assert start.touched == {function("three"): (at + first, at + end)}
        pages = {address // 4096 for address in range(at + first, at + end)}
        assert start.pages() == {address // 4096 for address in start.addresses()} == pages


def test_a_made_trace_is_one(far, tmp_path):
    """The reader finds the program and the addresses, in their order."""
    (tmp_path / "t").write_bytes(made_trace.to_bytes(elf.read(far.path), [0x5000, 0x10, 0x4000]))
    read = trace.read(tmp_path / "t")
    assert (read.main.path, read.main.build_id) == (str(far.path), far.build_id)
    assert read.addresses.tolist() == [0x5000, 0x10, 0x4000]


@pytest.mark.parametrize(("content", "what"), [
    (b"", "not a startup profile"), (b"frontload-files 1\n", ":1: not a startup profile"),
    (b"frontload-startup-profile 2\nprogram a\nruns 1\nfunction\ttext\t1\t+1\t-\tf",
     ":4: truncated"),
])
def test_a_damaged_profile_is_refused(cli, startup, tmp_path, content, what):
    """Whichever of the two it is, with its path and line, and nothing is written."""
    good = startup("main")
    (tmp_path / "bad").write_bytes(content)
    for paths in ((good, tmp_path / "bad"), (tmp_path / "bad", good)):
        result = cli("diff", *paths, "--json", tmp_path / "out", code=65)
        assert f"error: {tmp_path / 'bad'}" in result.err and what in result.err
        assert not (tmp_path / "out").exists()


def test_a_damaged_program_or_map_is_refused(cli, startup, far, tmp_path):
    """The profiles may be good: no figure is shown of a file that cannot be read."""
    path = startup("main")
    (tmp_path / "bad").write_bytes(far.path.read_bytes()[:3000])
    for options in (["--binary", tmp_path / "bad"], ["--binary", far.path, "--map", path]):
        result = cli("diff", path, path, *options, code=65)
        assert str(options[-1]) in result.err and result.out == ""
    assert "without --binary" in cli("diff", path, path, "--map", path, code=2).err


def test_more_bytes_than_there_can_be_are_refused(cli, made, far):
    """A profile of a few lines takes no gigabytes of memory."""
    path = made("p", {"main": Touch(1, 0, Touched(10**10, 1))})
    assert "names more bytes than a start touches" in cli(
        "diff", path, path, "--binary", far.path, code=65).err


def test_a_change_of_the_predicted_faults_fails(cli, far, startup):
    """More faults and fewer: both say that the profile does not tell what starts do today."""
    few, many = startup("main", file="few"), startup("main", "three", file="many")
    faults = [each["major_faults"] for each in (json.loads(cli(
        "diff", few, many, "--binary", far.path, "--json", "-").out)["predicted"][label]
        for label in ("old", "new"))]
    assert 0 < faults[0] < faults[1]
    more, less = (100 * abs(faults[1] - faults[0]) / before for before in faults)
    compare = ["diff", "--binary", far.path, "--max-fault-change"]
    cli(*compare, more + 0.1, few, many)
    cli(*compare, 0, many, many)
    cli(*compare, 0, startup("gone", file="none"), startup("gone", file="none"))
    result = cli(*compare, more - 0.1, few, many, code=1)
    assert (f"a start takes {faults[1]} major faults, by the old profile {faults[0]}: that differs "
            "by more than ") in result.err
    cli(*compare, less + 0.1, many, few)
    cli(*compare, less - 0.1, many, few, code=1)


@pytest.mark.parametrize(("arguments", "what"), [
    (["--max-fault-change", "10"], "nothing is predicted without --binary"),
    (["--max-fault-change", "-1"], "not a number from 0 up"),
    (["--max-fault-change", "nan"], "not a number from 0 up")])
def test_a_limit_of_the_faults_that_means_nothing(cli, startup, arguments, what):
    """It is refused before any work."""
    path = startup("main")
    assert what in cli("diff", path, path, *arguments, code=2).err
