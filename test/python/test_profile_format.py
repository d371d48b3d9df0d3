"""The startup profile: what is written is read back, merging has its laws, bad lines are named."""

import string

import pytest
from frontload import profile
from frontload.errors import BadData, Failure
from frontload.profile import Name, Profile
from hypothesis import example, given
from hypothesis import strategies as st

raw_names = st.binary(min_size=1, max_size=12)
names = st.builds(Name, st.sampled_from(profile.KINDS), st.sampled_from(profile.CLASSES), raw_names,
                  st.just(b"") | raw_names)
runs = st.lists(names, max_size=6)


def merged(*parts: Profile) -> Profile:
    total = Profile(b"app", 0)
    for part in parts:
        total.add(part)
    return total


def from_runs(*touched: list[Name]) -> Profile:
    return merged(*(profile.from_run(b"app", run) for run in touched))


def function(name: str, file: str = "") -> Name:
    return Name("function", "text", name.encode(), file.encode())


def test_the_format_is_as_declared():
    """Two runs give exactly the lines that the declaration of the format says."""
    table = Name("data", "rodata", b"_ZTV3Foo")
    start, helper = function("_start"), function("helper", "main.c")
    text = profile.to_bytes(from_runs([start, helper], [start, helper], [start, table, helper]))
    assert text.decode() == (
        "frontload-startup-profile 1\n"
        "program app\n"
        "runs 3\n"
        "# kind class runs step name [file]\n"
        "function\ttext\t3\t+1\t_start\n"
        "function\ttext\t3\t+1\thelper\tmain.c\n"
        "data\trodata\t1\t+0\t_ZTV3Foo\n")


def test_one_new_function_changes_one_line():
    """Ranks are relative, so the lines behind a new name stay as they are."""
    before = profile.to_bytes(from_runs([function(c) for c in "abdefgh"])).splitlines()
    after = profile.to_bytes(from_runs([function(c) for c in "abcdefgh"])).splitlines()
    assert [line for line in after if line not in before] == [b"function\ttext\t1\t+1\tc"]


@given(st.lists(runs, min_size=1, max_size=4), raw_names)
def test_what_is_written_is_read_back(touched, program):
    """Reading returns every name, count and rank, whatever bytes the names have."""
    made = from_runs(*touched)
    made.program = program
    assert profile.parse(profile.to_bytes(made), "x") == made


@given(st.lists(runs, min_size=1, max_size=5), st.randoms())
def test_order_and_grouping_of_runs_do_not_matter(touched, random):
    """Runs merged in any order, through any partial profiles written and read, give equal bytes."""
    parts = [from_runs(run) for run in touched]
    whole = profile.to_bytes(merged(*parts))
    random.shuffle(parts)
    cut = random.randint(0, len(parts))
    halves = [merged(*half) for half in (parts[:cut], parts[cut:]) if half]
    again = [profile.parse(profile.to_bytes(half), "x") for half in reversed(halves)]
    assert profile.to_bytes(merged(*again)) == whole


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
    text = (b"frontload-startup-profile 1\n\n# hello\nprogram a b\nnew \\key\nruns 1\n\n"
            b"function\ttext\t1\t+1\tmain\n#function\ttext\n")
    read = profile.parse(text, "x")
    assert (read.program, read.runs, list(read.touches)) == (b"a b", 1, [function("main")])


HEAD = "frontload-startup-profile 1\nprogram app\nruns 2\n"
ENTRY = "function\ttext\t1\t+1\tmain\n"


@pytest.mark.parametrize(("line", "what", "text"), [
    (1, "not a startup profile", "hello\n"),
    (1, "not a startup profile", ""),
    (1, "version `2` is not 1", "frontload-startup-profile 2\n"),
    (1, "version `1\\x0d`", HEAD.replace("\n", "\r\n")),
    (4, "cut: the last line does not end", HEAD + ENTRY[:-1]),
    (2, "no header line", "frontload-startup-profile 1\nprogram app\n"),
    (3, "no header line", "frontload-startup-profile 1\nruns 1\n" + ENTRY),
    (3, "is not a number", "frontload-startup-profile 1\nprogram app\nruns many\n" + ENTRY),
    (4, "a second header line", HEAD + "runs 3\n"),
    (4, "5 or 6 fields, not 4", HEAD + "function\ttext\t1\tmain\n"),
    (5, "5 or 6 fields, not 1", HEAD + ENTRY + "<<<<<<< HEAD\n"),
    (4, "unknown kind `block`", HEAD + ENTRY.replace("function", "block")),
    (4, "unknown section class `.text`", HEAD + ENTRY.replace("text", ".text")),
    (4, "does not start with +", HEAD + ENTRY.replace("+1", "1")),
    (4, "first step", HEAD + ENTRY.replace("+1", "+0")),
    (4, "`+1` is not a number", HEAD + ENTRY.replace("+1", "++1")),
    (4, "touched by 3 of 2 runs", HEAD + ENTRY.replace("\t1", "\t3")),
    (4, "touched by 0 of 2 runs", HEAD + ENTRY.replace("\t1", "\t0")),
    (4, "empty name", HEAD + ENTRY.replace("main", "")),
    (4, "empty name", HEAD + ENTRY.replace("main", "main\t")),
    (4, "a backslash", HEAD + ENTRY.replace("main", "ma\\in")),
    (4, "change of line ends", HEAD + ENTRY.replace("\n", "\r\n")),
    (4, "not UTF-8", HEAD + ENTRY.replace("main", "ma\udcffin")),
    (5, "second entry for the same name", HEAD + ENTRY + ENTRY),
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
    for head in (b"", HEAD.encode(), HEAD.encode() + b"function\ttext\t1\t+1\t"):
        try:
            assert profile.to_bytes(profile.parse(head + tail, "x"))
        except BadData as problem:
            assert problem.code == 65


def test_a_profile_without_entries_is_refused(tmp_path):
    """A profile that names nothing cannot be used for anything."""
    path = tmp_path / "app.startup"
    path.write_text(HEAD)
    with pytest.raises(BadData, match="no entries"):
        profile.read(path)


def test_a_missing_profile_names_the_remedy(tmp_path):
    """A file that is not there is a usage error that says how to make one."""
    with pytest.raises(Failure, match="No such file") as caught:
        profile.read(tmp_path / "app.startup")
    assert "frontload profile TRACE" in caught.value.note and caught.value.code == 2
