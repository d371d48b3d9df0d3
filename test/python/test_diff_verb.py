"""frontload diff: what has changed between two profiles, and what that costs a linked program."""

import json

import pytest
from frontload.measure import described_start
from frontload.profile import format as profile
from frontload.profile.startup_profile import Name, Profile, Stretch, Touch, Touched, from_run

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
    """The number of shared names before it, plus one, has more than doubled or halved; what has
    moved farthest comes first. What comes and goes moves nothing."""
    old = [f"f{i}" for i in range(16)]
    for place, has_moved in ((3, True), (4, False), (14, False)):
        new = old.copy()
        new.insert(place, new.pop(8))  # from the place 8, so from 9 to 4, 5 or 15
        assert ("f8" in names([pair["new"] for pair in compared(old, new)["moved"]])) == has_moved
    ranks = [sorted((pair["old"]["rank"], pair["new"]["rank"]))
             for pair in compared(old, old[::-1])["moved"]]
    times = [(late + 1) / (early + 1) for early, late in ranks]
    assert ranks[0] == [0, 15] and len(times) > 4 and times == sorted(times, reverse=True)
    new = [*(f"new{i}" for i in range(100)), *old]
    assert compared(old, new)["moved"] == compared(new, old)["moved"] == []


def test_the_overlap_weighs_names_by_their_runs(cli, made):
    """The lower share of the runs, by the higher: (1 + 1/4) of (1 + 3/4 + 1/2)."""
    old = made("old", {"main": Touch(4, 0), "f": Touch(3, 1), "g": Touch(2, 2)}, runs=4)
    new = made("new", {"main": Touch(8, 0), "f": Touch(2, 1)}, runs=8)
    assert json.loads(cli("diff", old, new, "--json", "-").out)["overlap"] == {
        "names": pytest.approx(100 * 1.25 / 2.25), "bytes": None, "telling": 0}
    assert "overlap of the touched bytes: not known" in cli("diff", old, new).out


def test_the_overlap_of_bytes_is_of_names_that_tell_them(compared):
    """A name of which one profile knows no bytes does not count. It is the same backwards."""
    old = {"main": Touch(1, 0, Touched(100, 1)), "f": Touch(1, 1),
           "g": Touch(1, 2, Touched(16, 1))}
    new = {"main": Touch(1, 0, Touched(60, 1)), "f": Touch(1, 1, Touched(900, 1)),
           "h": Touch(1, 2)}
    for found in (compared(old, new, data_runs=1), compared(new, old, data_runs=1)):
        assert found["overlap"]["bytes"] == pytest.approx(100 * 60 / (100 + 16))
        assert found["overlap"]["telling"] == 2
    found = compared(["main"], {"main": Touch(1, 0), "f": Touch(1, 1, Touched(16, 1))})
    assert (found["overlap"]["bytes"], found["overlap"]["telling"]) == (None, 0)


def test_data_is_compared_if_both_profiles_have_runs_with_data(cli, compared, made):
    """Where only one was recorded with data, its data has not come: nobody knows."""
    functions = made("old", {"main": Touch(1, 0)})
    both = made("new", {"main": Touch(1, 0), TABLE: Touch(1, 1)}, data_runs=1)
    result = cli("diff", functions, both)
    assert "not compared, because only the new profile has runs with data: 1 name" in result.out
    assert "overlap of the names: 100.00%" in result.out and "shared 1, gone 0," in result.out
    assert names(compared(["main"], ["main", TABLE], data_runs=1)["come"]) == ["table"]


@pytest.mark.parametrize(("gone", "come", "how"), [
    (function("f.llvm.12"), function("f.llvm.7"), "suffix"),
    (function("_ZN1AC1Ev"), function("_ZN1AC2Ev"), "variant"),
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
    many = made("many", ["main", *(f"f{i}" for i in range(12))])
    assert "and 2 other names" in cli("diff", old, many).out
    assert "f11" not in cli("diff", old, many).out and "f11" in cli("diff", "--all", old, many).out


def test_too_little_overlap_fails(cli, made):
    """The exit status is 0 whatever has changed, unless --min-overlap is missed."""
    path = made("p", {"main": Touch(2, 0, Touched(16, 1)), TABLE: Touch(1, 1, Touched(32, 1))},
                runs=2, data_runs=1)
    assert cli("diff", path, path, "--min-overlap", "100").out.splitlines()[2:] == [
        "overlap of the names: 100.00%",
        "overlap of the touched bytes: 100.00%, of 2 names that tell them",
        "shared 2, gone 0, come 0, renamed 0, moved 0"]
    paths = made("old", ["main", "f"]), made("new", ["main", "g"])
    cli("diff", *paths)
    cli("diff", *paths, "--min-overlap", "33")
    result = cli("diff", *paths, "--min-overlap", "34", code=1)
    assert "33.33% of the names are the same, less than 34%" in result.err
    assert "come: 1 name" in result.out
    paths[1].write_bytes(profile.to_bytes(from_run(b"b", [function("main")])))
    assert "is a profile of app, " in cli("diff", *paths).err


def test_names_are_escaped(cli, compared, made):
    """No name steers a terminal or makes a line of its own."""
    odd, odder = Name("function", "text", b"\xff f.llvm.1"), Name("function", "text", HOSTILE)
    found = compared([odd, odder], [odd._replace(name=b"\xff f.llvm.2"),
                                    odder._replace(name=HOSTILE + b".llvm.2"), "b"])
    assert [len(found[what]) for what in ("renamed", "gone", "come")] == [1, 1, 2]
    hostile = Name("function", "text", HOSTILE, HOSTILE)
    out = cli("diff", made("old", ["main", hostile]), made("new", ["main", "x"])).out
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


def test_what_a_start_touches(made, far):
    """What half of the runs touch: the bytes that the profile tells, or the first."""
    section = Name("section", "rodata", b".rodata.f", b"a.o")
    path = made("p", {"main": Touch(4, 0), "three": Touch(1, 1), section: Touch(1, 2),
                      "nowhere": Touch(2, 3)}, runs=4, data_runs=1)
    start = described_start.read(str(path), str(far.path))
    assert [name.name for name in start.touched] == [b"main"]
    assert (start.missing, start.not_sought) == (1, 1)
    assert start.places.keys() == {function("main"), function("three")}
    at = far.addresses["three"]
    for touched, first, end in ((Touched(), 0, 1), (Touched(5000, 1), 0, 5000),
                                (Touched(16, 1, Stretch(9000, 9099)), 9000, 9100)):
        path = made("p", {"three": Touch(1, 0, touched)})
        start = described_start.read(str(path), str(far.path))
        assert start.touched == {function("three"): (at + first, at + end)}
        pages = {address // 4096 for address in range(at + first, at + end)}
        assert start.pages() == {address // 4096 for address in start.addresses()} == pages


def test_what_cannot_be_compared_is_refused(cli, startup, made, far, tmp_path):
    """Files that cannot be read, or would take gigabytes of memory, and options that mean nothing:
    nothing is shown or written."""
    path, bad, out = startup("main"), tmp_path / "bad", tmp_path / "out"
    bad.write_bytes(far.path.read_bytes()[:3000])
    huge = made("p", {"main": Touch(1, 0, Touched(10**10, 1))})
    for arguments, code, what in (
            ([bad, path], 65, f"{bad}:1: not a startup profile"),
            ([path, bad], 65, f"{bad}:1: not a startup profile"),
            ([path, path, "--binary", bad], 65, str(bad)),
            ([path, path, "--binary", far.path, "--map", path], 65, str(path)),
            ([huge, huge, "--binary", far.path], 65, "names more bytes than a start touches"),
            ([path, path, "--max-fault-change", 10], 2, "nothing is predicted without --binary"),
            ([path, path, "--map", "app.map"], 2, "without --binary"),
            ([path, path, "--max-fault-change", -1], 2, "not a number from 0 up"),
            ([path, path, "--max-fault-change", "nan"], 2, "not a number from 0 up")):
        result = cli("diff", *arguments, "--json", out, code=code)
        assert what in result.err and result.out == "" and not out.exists()


def test_a_change_of_the_predicted_faults_fails(cli, far, startup):
    """More faults and fewer: both say that the profile does not tell what starts do today."""
    few, many = startup("main", file="few"), startup("main", "three", file="many")
    predicted = json.loads(cli("diff", few, many, "--binary", far.path, "--json", "-").out)[
        "predicted"]
    faults = [predicted[label]["major_faults"] for label in ("old", "new")]
    assert 0 < faults[0] < faults[1]
    more, less = (100 * (faults[1] - faults[0]) / before for before in faults)
    compare = ["diff", "--binary", far.path, "--max-fault-change"]
    cli(*compare, more + 0.1, few, many)
    cli(*compare, 0, *[startup("gone", file="none")] * 2)
    result = cli(*compare, more - 0.1, few, many, code=1)
    assert (f"a start takes {faults[1]} major faults, by the old profile {faults[0]}: that differs "
            "by more than ") in result.err
    cli(*compare, less + 0.1, many, few)
    cli(*compare, less - 0.1, many, few, code=1)
