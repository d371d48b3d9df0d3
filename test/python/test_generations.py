"""A profile that is renewed: runs of newer builds count for more, what is old fades and goes."""

import json

import pytest
from frontload.base.errors import Failure
from frontload.profile import format as profile
from frontload.profile import generations as ages
from frontload.profile.startup_profile import Name, Profile, Stretch, Touched, from_run
from hypothesis import given
from hypothesis import strategies as st
from test_profile_format import merged

MAIN, OLD, NEW = (Name("function", "text", name) for name in (b"main", b"old", b"new"))
TABLE = Name("data", "rodata", b"table")
LABELS = [b"", b"1.9", b"1.10", b"2.0~rc1", b"2.0"]  # from the oldest to the newest


def of(label: bytes, *runs: list[Name] | dict[Name, Touched], data: bool = False,
       knows_cold_parts: bool = True) -> Profile:
    """The profile of some runs of one generation."""
    made = Profile(b"app", 0, knows_cold_parts=knows_cold_parts)
    for run in runs:
        made.add(from_run(b"app", run, data))
    if label:
        made.label(label)
    return made


@pytest.mark.parametrize(("older", "newer"), [
    ("2.9", "2.10"), ("2026-09-30", "2026-11-24"), ("99", "100"), ("2.0~rc1", "2.0"),
    ("2.0", "2.0.1"), ("2.0", "2.0-1"), ("2.0~~", "2.0~"), ("1a", "1b"), ("1a", "1+"),
    ("1.01", "1.1"), ("1", "1a")])
def test_labels_compare_as_versions(older, newer):
    """As Debian's do: numbers go by their value, and `~` makes a version that comes before."""
    assert ages.age(b"") < ages.age(older.encode()) < ages.age(newer.encode())


def test_the_format_is_as_declared():
    """Two runs of the newest of three generations count four each, one of the oldest counts one."""
    made = merged(of(b"2.10", [MAIN, NEW], [MAIN, NEW]), of(b"2.9", [MAIN]),
                  of(b"", [OLD, NEW, MAIN]))
    assert profile.to_bytes(made).decode() == (
        "frontload-startup-profile 5\n"
        "program app\n"
        "runs 11\n"
        "generations 2.10:2:0 2.9:1:0 -:1:0\n"
        "kept-runs 6ec4e62f1b1e:8@0 7f95c8d6633a:2@1 054652e5e253:1@2\n"
        "# kind class runs step touched name [file]\n"
        "function\ttext\t11@2,1,1\t+1\t-\tmain\n"
        "function\ttext\t1@0,0,1=4\t+0\t-\told\n"
        "function\ttext\t9@2,0,1=5\t+1\t-\tnew\n")
    one = of(b"2.0", [MAIN, OLD])
    text = profile.to_bytes(one)
    assert b"\ngenerations 2.0:1:0\n" in text and b"\nfunction\ttext\t1\t+1\t-\tmain\n" in text
    assert profile.parse(text, "p") == one
    text = profile.to_bytes(merged(of(b"", [MAIN]), of(b"", [MAIN])))
    assert text.startswith(b"frontload-startup-profile 2\n") and b"generations" not in text


def test_the_newest_generation_says_how_a_name_is_touched():
    """Its rank and bytes count alone, however many older runs say something else."""
    old = of(b"1", *[{OLD: Touched(), MAIN: Touched(), TABLE: Touched(900, 2)}] * 9, data=True)
    new = of(b"2", {TABLE: Touched(16, 1, Stretch(0, 15)), MAIN: Touched()}, data=True)
    for made in (merged(old, new), merged(new, old)):
        assert made.touches[TABLE][1:4] == (0, Touched(16, 1, Stretch(0, 15)), ())
        assert made.touches[MAIN].rank == 1
        assert made.touches[OLD].by_generation == (0, 9)
        assert made.touches[OLD].rank == 0
    late = [Name("function", "text", b"f%d" % n) for n in range(40)] + [MAIN]
    made = merged(of(b"1", [MAIN]), of(b"2", [MAIN]), of(b"2", late))
    assert made.touches[MAIN].spread == ((0, 1, 0), (6, 1, 40))
    assert made.touches[MAIN].runs == 2 * 2 + 1


some_runs = st.lists(st.dictionaries(
    st.sampled_from([MAIN, OLD, NEW, TABLE]),
    st.sampled_from([Touched(), Touched(16, 1, Stretch(64, 79)), Touched(900, 2)])), max_size=3)
parts = st.tuples(st.sampled_from(LABELS), some_runs, st.booleans(), st.booleans(),
                  st.integers(1, 3))


@given(st.lists(parts, min_size=1, max_size=6), st.integers(1, 4), st.randoms())
def test_order_grouping_and_leaving_out_do_not_matter(given_parts, kept, random):
    """Parts give the same bytes in any order, and by way of any partial profiles."""
    made = []
    for label, runs, data, knows, weight in given_parts:
        part = Profile(b"app", 0)
        part.add(of(label, *runs, data=data, knows_cold_parts=knows), weight)
        if part.runs:
            made.append(part)
    whole = merged(*made)
    whole.keep_generations(kept)
    if not whole.touches:
        return
    random.shuffle(made)
    cut = random.randint(0, len(made))
    halves = []
    for half in (made[:cut], made[cut:]):
        part = merged(*half)
        part.keep_generations(kept + random.randint(0, 1))
        if part.runs:
            halves.append(profile.parse(profile.to_bytes(part), "x"))
    again = merged(*reversed(halves))
    again.keep_generations(kept)
    assert profile.to_bytes(again) == profile.to_bytes(whole)
    assert profile.parse(profile.to_bytes(whole), "x") == whole


def test_a_name_that_has_faded_may_be_gone(link, cli, tools, tmp_path):
    """check counts it neither as found nor as missing. Only a generation with data has seen that
    data are no longer touched."""
    program, path = link(), tmp_path / "p"
    there, gone = Name("function", "text", b"f1"), Name("function", "text", b"f9")
    path.write_bytes(profile.to_bytes(merged(of(b"1", [MAIN, there, OLD, gone]),
                                             of(b"2", [MAIN, gone]))))
    found = json.loads(cli("check", program.path, "--profile", path, "--min-coverage", 0,
                           "--min-match", 66, "--json", "-").out)
    assert (found["names"], found["present"], found["faded"]) == (3, 2, 1)
    assert {each["name"] for each in found["missing"]
            if each["reason"] == "no such symbol"} == {"f9"}
    result = cli("check", program.path, "--profile", path, "--min-coverage", 0, "--min-match", 0)
    assert "not counted, as starts touch them no more and they are gone: 1 name" in result.out
    made = merged(of(b"1", [MAIN, OLD], data=True), of(b"2", [MAIN, TABLE], data=True),
                  of(b"3", [MAIN]))
    assert [made.has_faded(name) for name in (MAIN, OLD, TABLE)] == [False, True, False]
    assert not of(b"", [MAIN]).has_faded(MAIN)


def test_a_profile_is_renewed(link, cli, tmp_path):
    """What builds no longer touch fades, and goes with its last generation."""
    program, path = link(), tmp_path / "app.startup"
    cli("profile", program.trace(tmp_path / "1", "main", "f1"), "-o", path)
    for build, names in (("2.9", ["main", "f2"]), ("2.10", ["f5", "main"])):
        trace = program.trace(tmp_path / build, *names)
        result = cli("profile", path, trace, "--generation", build, "-o", path)
    assert result.err == "frontload: note: app: 4 names from 3 runs of 3 generations\n"
    assert [(name.name, touch.runs) for name, touch in profile.read(path).in_order()] == [
        (b"f5", 4), (b"main", 7), (b"f2", 2), (b"f1", 1)]
    result = cli("profile", path, program.trace(tmp_path / "4", "main"), "--generation", "2.11",
                 "--keep-generations", 2, "-o", path)
    assert result.err.splitlines()[0] == (
        "frontload: note: app: left out the oldest generations (2.9, the one without a label), "
        "with 2 names that no newer one touched")
    assert [name.name for name in profile.read(path).touches] == [b"main", b"f5"]
    assert profile.read(path).runs == 3


@pytest.mark.parametrize("arguments", [
    ["--generation", ""], ["--generation", "a b"], ["--generation", "-"], ["--generation", "a:b"],
    ["--generation", "a" * 65], ["--keep-generations", "0"], ["--keep-generations", "17"]])
def test_what_is_no_label_is_refused(cli, arguments):
    """So is a number of generations that no profile can have."""
    assert f"argument {arguments[0]}" in cli("profile", "t", *arguments, code=2).err


def test_show_says_when_a_name_was_last_seen(cli, tmp_path):
    """The generations stand in a table, and in JSON beside each name."""
    path = tmp_path / "p"
    path.write_bytes(profile.to_bytes(merged(of(b"2", [MAIN, NEW]), of(b"", [OLD]))))
    out = cli("info", path).out
    assert "runs: 3 by their age (2 recorded), none" in out and "generations: 2" in out
    rows = [line.split() for line in out.splitlines()]
    assert ["2", "1", "0", "2"] in rows and ["(no", "label)", "1", "0", "1"] in rows
    document = json.loads(cli("info", "--all", "--json", "-", path).out)["files"][0]
    assert document["generations"][1] == {"label": None, "runs": 1, "data_runs": 0, "last_seen": 1}
    assert {each["name"]: each["last_seen"] for each in document["all"]} == {
        "main": "2", "new": "2", "old": None}


def test_more_runs_than_a_profile_can_tell_are_not_written():
    """Readers would refuse the number."""
    many, too_many = Profile(b"app", 0), Profile(b"app", 0)
    many.add(of(b"1", [MAIN]), 10 ** 18 - 1)
    assert profile.parse(profile.to_bytes(many), "p").runs == many.runs
    too_many.add(of(b"1", [MAIN]), 10 ** 18)
    with pytest.raises(Failure, match="its runs count as 1000000000000000000"):
        profile.to_bytes(too_many)
