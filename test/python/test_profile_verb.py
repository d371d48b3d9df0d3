"""frontload profile, end to end: traces of real programs become a startup profile, or an error."""

import itertools
import os

import pytest
from frontload.profile import format as profile
from frontload.profile import inputs, merge
from frontload.profile.startup_profile import Touched
from trace_writer import CODE, DATA, TraceWriter

NAMES = ["main", "f1", "f2", "helper", "f5"]


def entries(path) -> list[tuple[str, int, int]]:
    """Name, runs and rank of each entry of a profile."""
    return [(name.name.decode(), touch.runs, touch.rank)
            for name, touch in profile.read(path).in_order()]


def test_a_trace_becomes_names_in_first_touch_order(link, cli, tmp_path):
    """The profile of one run has its functions in order, the static one with its file."""
    program = link()
    program.trace(tmp_path / "t", *NAMES)
    result = cli("profile", tmp_path / "t", "-o", tmp_path / "app.startup")
    assert (tmp_path / "app.startup").read_text().splitlines()[5:] == [
        "function\ttext\t1\t+1\t-\tmain",
        "function\ttext\t1\t+1\t-\tf1",
        "function\ttext\t1\t+1\t-\tf2",
        "function\ttext\t1\t+1\t-\thelper\tapp.c",
        "function\ttext\t1\t+1\t-\tf5"]
    assert (result.out, result.err) == ("", "frontload: note: app: 5 names from 1 run\n")


def test_the_first_of_two_touches_counts(link, cli, tmp_path):
    """The runtime may write an event twice, where a signal handler interrupted it."""
    program = link()
    once = cli("profile", program.trace(tmp_path / "t", *NAMES)).out
    twice = cli("profile", program.trace(tmp_path / "u", *NAMES, *NAMES[1:3])).out
    assert [line for line in twice.splitlines() if line.startswith("function")] == \
        [line for line in once.splitlines() if line.startswith("function")]


def test_runs_that_touched_different_names_are_told_apart(link, cli, tmp_path):
    """A word for each name that not all of them touched; runs that did the same are one."""
    program = link()
    traces = [program.trace(tmp_path / str(number), *names)
              for number, names in enumerate((NAMES, NAMES[:2], NAMES[:2], NAMES[:3]))]
    whole = cli("profile", *traces).out
    kept, by = whole.splitlines()[3], {
        fields[5]: fields[2] for fields in map(str.split, whole.splitlines()) if len(fields) > 5}
    weights = [run.split(":")[1] for run in kept.removeprefix("kept-runs ").split(" ")]
    assert sorted(weights) == ["1", "1", "2"]
    assert (by["main"], by["f1"]) == ("4", "4")
    all_but_the_most = 7 & ~(1 << weights.index("2"))
    assert by["f2"] == f"2={all_but_the_most:x}"
    assert by["f5"] == by["helper"] and by["f5"] in ("1=1", "1=2", "1=4") and by["f5"] != by["f2"]
    for part, some in (("a", traces[:1]), ("b", traces[1:])):
        cli("profile", *some, "-o", tmp_path / part)
    assert cli("profile", tmp_path / "b", tmp_path / "a").out == whole


def test_the_folder_of_profiles_is_made(link, cli, tmp_path):
    """The first profile makes the folder that it shall be in; what is in its way is named."""
    program = link()
    program.trace(tmp_path / "t", *NAMES)
    cli("profile", tmp_path / "t", "-o", tmp_path / "startup" / "app.startup")
    assert len(entries(tmp_path / "startup" / "app.startup")) == len(NAMES)
    result = cli("profile", tmp_path / "t", "-o", tmp_path / "t" / "app.startup", code=2)
    assert result.err == f"frontload: error: {tmp_path / 't'}: File exists\n"


def test_data_has_its_section_class(link, cli, tmp_path):
    """Touched granules of data become entries of their class."""
    program = link()
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    for name in ("table", "counter", "zeros", "pointer"):
        writer.event(program.addresses[name] & ~15, kind=DATA)
    writer.write(tmp_path / "t")
    lines = cli("profile", tmp_path / "t").out.splitlines()[6:]
    found = {line.split("\t")[5]: line.split("\t")[:2] for line in lines}
    assert found.items() >= {"table": ["data", "rodata"], "counter": ["data", "data"],
                             "zeros": ["data", "bss"], "pointer": ["data", "relro"]}.items()


def test_code_and_data_say_how_much_is_touched(link, cli, tmp_path):
    """A trace of granules gives each entry its bytes, and is a run with data."""
    program = link()
    main, table = program.addresses["main"], program.addresses["table"]
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    writer.event(main, kind=CODE).event(main + 16 & ~15, kind=CODE)
    writer.event(table, kind=DATA).event(table + 48, kind=DATA)
    cli("profile", writer.write(tmp_path / "t"), program.trace(tmp_path / "u", "main"),
        "-o", tmp_path / "p")
    read = profile.read(tmp_path / "p")
    assert (read.runs, read.data_runs) == (2, 1)
    amounts = {name.name: (touch.runs, touch.touched) for name, touch in read.touches.items()}
    assert amounts == {b"main": (2, Touched(32 - main % 16, 1)), b"table": (1, Touched(32, 1))}


def test_a_run_that_touched_data_of_others_is_a_run_with_data(link, cli, tmp_path):
    """Data of a library tells that the recorder saw data, so that a program without has none."""
    program = link()
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    writer.module(2, "/lib/other.so", main=False).event(0x1000, 2, DATA)
    writer.event(program.addresses["main"])
    assert "\ndata-runs 1\n" in cli("profile", writer.write(tmp_path / "t")).out


def test_a_weight_counts_as_that_many_runs(link, cli, tmp_path):
    """--weighted-input gives traces, folders and profiles a weight, beside those without."""
    program = link()
    (tmp_path / "rare").mkdir()
    program.trace(tmp_path / "rare" / "a.fltrace", "main", "f1")
    program.trace(tmp_path / "rare" / "b.fltrace", "main", "f2")
    program.trace(tmp_path / "t", "main")
    cli("profile", tmp_path / "t", "--weighted-input", f"3,{tmp_path / 'rare'}",
        "-o", tmp_path / "p")
    assert profile.read(tmp_path / "p").runs == 7
    assert entries(tmp_path / "p") == [("main", 7, 0), ("f1", 3, 1), ("f2", 3, 1)]
    cli("profile", f"--weighted-input=2,{tmp_path / 'p'}", f"--weighted-input=1,{tmp_path / 't'}",
        "-o", tmp_path / "q")
    assert entries(tmp_path / "q") == [("main", 15, 0), ("f1", 6, 1), ("f2", 6, 1)]


def test_a_file_with_two_weights_has_the_larger(link, cli, tmp_path):
    """A trace that is given twice counts once, by its larger weight, in whatever order."""
    trace = link().trace(tmp_path / "t", "main")
    for given in ([trace, f"--weighted-input=3,{trace}"],
                  [f"--weighted-input=3,{trace}", f"--weighted-input=2,{trace}"]):
        for arguments in (given, given[::-1]):
            assert "given twice" in cli("profile", *arguments, "-o", tmp_path / "p").err
            assert entries(tmp_path / "p") == [("main", 3, 0)]


@pytest.mark.parametrize("weight", ["0,t", "-1,t", "1.5,t", "t", "2,", ",t", "1000000000,t"])
def test_a_weight_that_is_none_is_refused(cli, weight):
    """--weighted-input takes a positive whole number, a comma and a path."""
    assert "WEIGHT,PATH" in cli("profile", f"--weighted-input={weight}", code=2).err


def test_no_input_is_refused(cli):
    """A profile is made of something."""
    assert "no input" in cli("profile", code=2).err


def test_any_order_and_any_partition_give_the_same_bytes(link, cli, tmp_path):
    """Four runs give one profile: in any order, and by way of any partial profiles."""
    program = link()
    runs = [["main", "f1", "f2"], ["f2", "main"], ["f3", "f1"], ["main", "f1", "f2", "f4", "f5"]]
    traces = [program.trace(tmp_path / f"{i}", *run) for i, run in enumerate(runs)]
    whole = cli("profile", *traces).out
    assert whole == cli("profile", *reversed(traces)).out
    for size in (1, 2, 3):
        for chosen in itertools.combinations(range(4), size):
            first = [traces[i] for i in chosen]
            rest = [traces[i] for i in range(4) if i not in chosen]
            cli("profile", *first, "-o", tmp_path / "first.startup")
            assert cli("profile", *rest, tmp_path / "first.startup").out == whole
    profile_path = tmp_path / "whole.startup"
    profile_path.write_text(whole)
    assert entries(profile_path) == [("f2", 3, 0), ("main", 3, 0), ("f3", 1, 0), ("f1", 3, 1),
                                     ("f4", 1, 3), ("f5", 1, 4)]


def test_the_map_is_for_all_traces_if_one_has_data(link, cli, tmp_path):
    """A static function has one name, whether a trace of functions comes before one of data."""
    program = link(f"-Wl,-Map={tmp_path / 'app.map'}")
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    writer.event(program.addresses["helper"]).event(program.addresses["table"], kind=DATA)
    traces = [writer.write(tmp_path / "d"), program.trace(tmp_path / "f", "helper")]
    whole = cli("profile", *traces, "--map", tmp_path / "app.map").out
    assert whole.count("helper") == 1
    assert whole == cli("profile", *reversed(traces), "--map", tmp_path / "app.map").out


def test_runs_of_different_builds_merge_by_name(link, cli, tmp_path):
    """Each trace is resolved with its own binary, so two builds make one profile."""
    for folder, extra in (("old", "int pad(int x) { return x * 3; }\n"), ("new", "")):
        (tmp_path / folder).mkdir()
        from_source = extra + SOURCE_OF_TWO
        program = link(source=from_source, name=f"{folder}/app")
        program.trace(tmp_path / f"{folder}.fltrace", "main", "leaf")
    cli("profile", tmp_path / "old.fltrace", tmp_path / "new.fltrace", "-o", tmp_path / "p")
    assert entries(tmp_path / "p") == [("main", 2, 0), ("leaf", 2, 1)]


SOURCE_OF_TWO = """
__attribute__((noinline)) int leaf(int x) { return x; }
int main(int argc, char **argv) { return leaf(argc - 1); }
"""


def test_a_folder_stands_for_its_traces(link, cli, tmp_path):
    """All traces of a folder are read, numbered ones too; a file that comes twice counts once."""
    program = link()
    folder = tmp_path / "traces"
    folder.mkdir()
    first = program.trace(folder / "app.1.fltrace", "main")
    program.trace(folder / "app.1.fltrace.1", "main", "f1")
    (folder / "readme").write_text("not a trace")
    result = cli("profile", folder, first, "-o", tmp_path / "p")
    assert entries(tmp_path / "p") == [("main", 2, 0), ("f1", 1, 1)]
    assert "given twice" in result.err


def test_a_folder_without_traces_is_refused(cli, tmp_path):
    """An empty folder is bad data, and the note says how to fill it."""
    assert "frontload record -o" in cli("profile", tmp_path, code=65).err


def test_several_programs_need_a_choice(link, cli, tmp_path):
    """Traces of several programs are listed with counts; --program chooses one."""
    a, b = link(name="a"), link(name="b")
    traces = [a.trace(tmp_path / "1", "main"), b.trace(tmp_path / "2", "f1"),
              b.trace(tmp_path / "3", "f2")]
    result = cli("profile", *traces, "-o", tmp_path / "p", code=2)
    assert result.err == ("frontload: error: the inputs are of 2 programs: b (2), a (1)\n"
                          "frontload: note: choose one with --program NAME\n")
    assert not (tmp_path / "p").exists()
    result = cli("profile", *traces, "-o", tmp_path / "p", "--program", "b")
    assert entries(tmp_path / "p") == [("f1", 1, 0), ("f2", 1, 0)]
    assert "1 input of other programs" in result.err


def test_programs_that_are_not_chosen_need_no_symbols(link, cli, run, llvm, tmp_path):
    """A stripped shell among the traces is no obstacle to the profile of another program."""
    app, shell = link(name="app"), link(name="sh")
    run(llvm / "llvm-strip", shell.path)
    traces = [shell.trace(tmp_path / "1", "main"), app.trace(tmp_path / "2", "main")]
    assert "app (1), sh (1)" in cli("profile", *traces, code=2).err
    cli("profile", *traces, "--program", "app", "-o", tmp_path / "p")


def test_a_profile_can_be_of_a_shared_library(link, cli, tmp_path):
    """--program may name a library that was recorded as a module; its ranks count it alone."""
    app, library = link(), link("-shared", name="libf.so", flags=["-fPIC"])
    writer = TraceWriter().module(1, str(app.path), app.build_id)
    writer.module(2, str(library.path), library.build_id, main=False)
    writer.event(app.addresses["main"]).event(library.addresses["f2"], 2)
    writer.event(app.addresses["f1"]).event(library.addresses["f1"], 2)
    writer.write(tmp_path / "t")
    alone = app.trace(tmp_path / "alone", "main")
    cli("profile", tmp_path / "t", alone, "--program", "libf.so", "-o", tmp_path / "p")
    assert entries(tmp_path / "p") == [("f2", 1, 0), ("f1", 1, 1)]
    assert profile.read(tmp_path / "p").program == b"libf.so"


def test_of_two_modules_of_a_name_the_program_counts(link, cli, tmp_path):
    """A library may have the program's base name: its path chooses it, its name the program."""
    (tmp_path / "lib").mkdir()
    app, plugin = link(), link("-shared", name="lib/app", flags=["-fPIC"])
    writer = TraceWriter().module(1, str(plugin.path), plugin.build_id, main=False)
    writer.module(2, str(app.path), app.build_id)
    writer.event(plugin.addresses["f1"], 1).event(app.addresses["main"], 2).write(tmp_path / "t")
    for arguments, name in (((), "main"), (["--program", "app"], "main"),
                            (["--program", plugin.path], "f1")):
        cli("profile", tmp_path / "t", *arguments, "-o", tmp_path / "p")
        assert entries(tmp_path / "p") == [(name, 1, 0)]


def test_an_unknown_program_is_refused_with_those_there_are(link, cli, tmp_path):
    """--program with a name that nothing has lists the names that can be chosen."""
    trace = link().trace(tmp_path / "t", "main")
    result = cli("profile", trace, "--program", "ap", code=65)
    assert "ap: no input belongs to this program" in result.err and "app (1)" in result.err


def test_a_changed_binary_is_refused(link, cli, tmp_path):
    """If the binary is not the recorded one, both build-ids and the remedy are named."""
    program = link()
    trace = program.trace(tmp_path / "t", "main")
    other = link(source=SOURCE_OF_TWO)
    result = cli("profile", trace, "-o", tmp_path / "p", code=65)
    assert program.build_id.hex() in result.err and other.build_id.hex() in result.err
    assert "--binary PATH" in result.err
    assert not (tmp_path / "p").exists()


def test_the_binary_may_be_elsewhere(link, cli, tmp_path):
    """--binary replaces the recorded path; without it a missing binary is an error that says so."""
    program = link()
    trace = program.trace(tmp_path / "t", "main")
    os.rename(program.path, tmp_path / "moved")
    assert "--binary PATH" in cli("profile", trace, code=2).err
    cli("profile", trace, "--binary", tmp_path / "moved", "-o", tmp_path / "p")
    assert entries(tmp_path / "p") == [("main", 1, 0)]


def test_without_build_ids_there_is_a_warning(link, cli, tmp_path):
    """If neither side has a build-id, the trace is used, with a warning."""
    program = link("-Wl,--build-id=none")
    assert "has no build-id" in cli("profile", program.trace(tmp_path / "t", "main")).err


def test_a_stripped_program_is_refused(link, cli, run, llvm, tmp_path):
    """A program without symbols has no names to give."""
    program = link()
    trace = program.trace(tmp_path / "t", "main")
    run(llvm / "llvm-strip", program.path)
    assert "is stripped" in cli("profile", trace, code=65).err


def test_a_program_that_is_not_elf_is_refused(link, cli, tmp_path):
    """A script in place of the program is bad data."""
    trace = link().trace(tmp_path / "t", "main")
    (tmp_path / "script").write_text("#!/bin/sh\n")
    assert "not an ELF file" in cli("profile", trace, "--binary", tmp_path / "script", code=65).err


def test_touches_without_a_symbol_are_counted(link, cli, tmp_path):
    """Addresses that no symbol covers are left out and reported."""
    trace = link().trace(tmp_path / "t", "main", 0x10, 0x20)
    assert "2 first touches of 3 without a symbol" in cli("profile", trace).err


def test_a_run_without_first_touches_is_left_out(link, cli, tmp_path):
    """A forked child that touched nothing new is no run; if there is no other, that is an error."""
    program = link()
    empty, full = program.trace(tmp_path / "1"), program.trace(tmp_path / "2", "main")
    nameless = program.trace(tmp_path / "3", 0x10)
    result = cli("profile", empty, full, nameless, "-o", tmp_path / "p")
    assert "2 traces without" in result.err and entries(tmp_path / "p") == [("main", 1, 0)]
    assert profile.read(tmp_path / "p").runs == 1
    before = (tmp_path / "p").read_bytes()
    assert "no first touch" in cli("profile", empty, "-o", tmp_path / "p", code=65).err
    assert (tmp_path / "p").read_bytes() == before


def test_forked_children_are_part_of_their_run(link, cli, tmp_path):
    """The workers of a server: what they touch comes after what it has touched, and counts as one
    run, whichever trace is given first; with the weight of any of them."""
    program = link()
    child = program.trace(tmp_path / "1", "helper", "f3", minor=2, run=7, pid=30, forked=1)
    parent = program.trace(tmp_path / "2", "main", "helper", minor=2, run=7, pid=40)
    other = program.trace(tmp_path / "3", "main", minor=2, run=8, pid=30)
    cli("profile", child, parent, other, "-o", tmp_path / "p")
    assert entries(tmp_path / "p") == [("main", 2, 0), ("helper", 1, 1), ("f3", 1, 2)]
    assert profile.read(tmp_path / "p").runs == 2
    cli("profile", parent, "--weighted-input", f"5,{child}", "-o", tmp_path / "p")
    assert profile.read(tmp_path / "p").runs == 5
    # Before 1.2 these bytes said nothing.
    older = [program.trace(tmp_path / name, "main", minor=1, run=7) for name in "45"]
    cli("profile", *older, "-o", tmp_path / "p")
    assert profile.read(tmp_path / "p").runs == 2


def test_dropped_first_touches_are_reported(link, cli, tmp_path):
    """What the recorder had no room for is said, because the profile is then incomplete."""
    trace = link().trace(tmp_path / "t", "main", dropped=7)
    assert "7 first touches lost" in cli("profile", trace).err


@pytest.mark.parametrize(("contents", "code", "what"), [
    (b"hello\n", 65, "not a trace"),
    (b"", 65, "is empty"),
    (b"frontload-startup-profile 2\nprogram app\nruns 1\nrubbish\tline\n", 65, ":4: "),
    (b"\x89FLT\r\n\x1a\n rest", 65, "truncated inside its header"),
    (None, 2, "No such file"),
])
def test_one_bad_input_fails_unless_partial_is_allowed(link, cli, tmp_path, contents, code, what):
    """A bad file among good ones fails and writes nothing; --allow-partial says what is lost."""
    good = link().trace(tmp_path / "good", "main")
    bad = tmp_path / "bad"
    if contents is not None:
        bad.write_bytes(contents)
    result = cli("profile", good, bad, "-o", tmp_path / "p", code=code)
    assert f"frontload: error: {bad}" in result.err and what in result.err
    assert not (tmp_path / "p").exists()
    result = cli("profile", good, bad, "-o", tmp_path / "p", "--allow-partial")
    assert "1 of 2 inputs left out" in result.err and what in result.err
    assert entries(tmp_path / "p") == [("main", 1, 0)]
    result = cli("profile", bad, "-o", tmp_path / "q", "--allow-partial", code=65)
    assert "none of the inputs can be used" in result.err


def test_what_is_left_out_is_told_one_by_one(link, cli, tmp_path):
    """Each input that is lost is named with its reason, and no other is lost with it: neither of
    the same folder nor of the same run."""
    program, other = link(), link(source=SOURCE_OF_TWO, name="other")
    folder = tmp_path / "traces"
    folder.mkdir()
    program.trace(folder / "1.fltrace", "main", "f1", minor=2, run=5, pid=1)
    stale = TraceWriter().module(1, str(program.path), other.build_id)
    stale.event(program.addresses["f3"])
    stale.write(folder / "2.fltrace", minor=2, run=5, pid=2, forked=1)
    program.trace(folder / "3.fltrace", "f2", minor=2, run=5, pid=3, forked=1)
    (folder / "4.fltrace").write_bytes((folder / "1.fltrace").read_bytes()[:-3])
    program.trace(folder / "5.fltrace", "main", minor=2, run=6, pid=5)
    cli("profile", folder, "-o", tmp_path / "p", code=65)
    assert not (tmp_path / "p").exists()
    *lost, count, made = cli("profile", folder, "--allow-partial", "-o", tmp_path / "p").err \
        .splitlines()
    assert len(lost) == 2 and all(line.endswith(": this input is left out") for line in lost)
    assert "4.fltrace: truncated inside slot" in lost[0]
    assert f"but {folder}/2.fltrace recorded {other.build_id.hex()}" in lost[1]
    assert count == "frontload: warning: 2 of 5 inputs left out"
    assert made == "frontload: note: app: 3 names from 2 runs"
    assert entries(tmp_path / "p") == [("main", 2, 0), ("f1", 1, 1), ("f2", 1, 2)]


def test_a_cut_trace_is_refused(link, cli, tmp_path):
    """A trace that lost its second half gives an error with the offset, and no profile."""
    trace = link().trace(tmp_path / "t", *NAMES)
    os.truncate(trace, trace.stat().st_size - 40)
    result = cli("profile", trace, "-o", tmp_path / "p", code=65)
    assert "truncated" in result.err and "(at byte" in result.err
    assert not (tmp_path / "p").exists()


def test_an_unchanged_profile_is_not_written_again(link, cli, tmp_path):
    """The same bytes are left alone, so that builds do not redo what depends on the profile."""
    trace = link().trace(tmp_path / "t", "main")
    cli("profile", trace, "-o", tmp_path / "p")
    before = (tmp_path / "p").stat()
    cli("profile", trace, "-o", tmp_path / "p")
    after = (tmp_path / "p").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_thousand_traces_are_merged(link, tmp_path):
    """A thousand processes make one profile of a thousand runs."""
    program = link()
    folder = tmp_path / "traces"
    folder.mkdir()
    for number in range(1000):
        program.trace(folder / f"app.{number}.fltrace", "main", NAMES[1 + number % 4])
    merger = merge.Merger()
    for path, weight in inputs.expand([(str(folder), 1)]):
        merger.add(path, weight)
    made = merger.result()
    assert made.runs == 1000
    (first, touch), *others = made.in_order()
    assert (first.name, touch.runs) == (b"main", 1000)
    assert [touch.runs for _, touch in others] == [250] * 4


@pytest.fixture
def roles(link, tmp_path):
    """A folder of traces of one program: of two roles, and of none."""
    program = link()
    folder = tmp_path / "roles"
    folder.mkdir()
    for number, (role, name) in enumerate([("renderer", "f1"), ("renderer", "f2"),
                                           ("gpu", "helper"), ("", "main")]):
        writer = TraceWriter().module(1, str(program.path), program.build_id)
        writer.event(program.addresses[name]).write(folder / f"{number}.fltrace", minor=3,
                                                    role=role.encode(), run=5, forked=number != 3)
    return folder


@pytest.mark.parametrize("wanted, runs, names", [
    (["renderer"], 1, ["f1", "f2"]), (["gpu"], 1, ["helper"]),
    (["gpu", "renderer"], 1, ["f1", "f2", "helper"]), ([], 1, ["f1", "f2", "helper", "main"])])
def test_a_profile_of_a_role_has_its_traces_only(roles, cli, tmp_path, wanted, runs, names):
    """Also if all of them are processes of one run."""
    options = [word for role in wanted for word in ("--role", role)]
    cli("profile", roles, *options, "-o", tmp_path / "p")
    assert profile.read(tmp_path / "p").runs == runs
    assert sorted(name for name, _, _ in entries(tmp_path / "p")) == names


def test_a_role_that_no_trace_has_is_an_error(roles, cli, tmp_path):
    """It names the roles that there are, and each that is asked for has to be there."""
    result = cli("profile", roles, "--role", "gpu", "--role", "tab", "-o", tmp_path / "p", code=65)
    assert result.err == (
        "frontload: error: no trace is of a process with the role 'tab'\n"
        "frontload: note: the roles of these traces: renderer (2), gpu (1), none (1)\n")
    assert not (tmp_path / "p").exists()
    cli("profile", roles, "--role", "gpu", "-o", tmp_path / "p")
    result = cli("profile", tmp_path / "p", "--role", "gpu", code=65)
    assert "startup profiles have no roles" in result.err


def test_what_cannot_be_a_role_is_a_usage_error(roles, cli):
    """No trace could have it."""
    assert "not a role" in cli("profile", roles, "--role", "two words", code=2).err
