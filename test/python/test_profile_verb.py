"""frontload profile, end to end: traces of real programs become a startup profile, or an error."""

import pytest
from frontload.profile import format as profile
from frontload.profile.startup_profile import Touched
from small_programs import SOURCE
from trace_writer import CODE, DATA, TraceWriter

NAMES = ["main", "f1", "f2", "helper", "f5"]
OTHER = "int other(int x) { return x * 3; }\n" + SOURCE  # as another build has it


def entries(path) -> list[tuple[str, int, int]]:
    """Name, runs and rank of each entry of a profile."""
    return [(name.name.decode(), touch.runs, touch.rank)
            for name, touch in profile.read(path).in_order()]


@pytest.fixture
def profiled(cli, tmp_path):
    """profiled(*arguments): of the profile that is made, the number of runs and the entries."""
    def profiled(*arguments):
        cli("profile", *arguments, "-o", tmp_path / "p")
        return profile.read(tmp_path / "p").runs, entries(tmp_path / "p")

    return profiled


def writer_of(program) -> TraceWriter:
    return TraceWriter().module(1, str(program.path), program.build_id)


def test_a_trace_becomes_names_in_first_touch_order(link, cli, tmp_path):
    """The static one with its file; in a folder that is made; what is touched again stays there."""
    path = tmp_path / "startup" / "app.startup"
    trace = link().trace(tmp_path / "t", *NAMES, *NAMES[1:3])
    result = cli("profile", trace, "-o", path)
    assert path.read_text().splitlines()[5:] == [
        "function\ttext\t1\t+1\t-\tmain",
        "function\ttext\t1\t+1\t-\tf1",
        "function\ttext\t1\t+1\t-\tf2",
        "function\ttext\t1\t+1\t-\thelper\tapp.c",
        "function\ttext\t1\t+1\t-\tf5"]
    assert (result.out, result.err) == ("", "frontload: note: app: 5 names from 1 run\n")
    result = cli("profile", trace, "-o", trace / "app.startup", code=2)
    assert result.err == f"frontload: error: {trace}: File exists\n"


def test_code_and_data_have_their_class_and_how_much_is_touched(link, cli, tmp_path):
    """A trace of granules gives each entry its bytes, and is a run with data, as any trace is that
    has data, even if they are a library's."""
    program = link()
    at, main = program.addresses, program.addresses["main"]
    writer = writer_of(program).event(main, kind=CODE).event(main + 16 & ~15, kind=CODE)
    for address in (at["table"], at["table"] + 48, at["counter"], at["zeros"], at["pointer"]):
        writer.event(address & ~15, kind=DATA)
    library = writer_of(program).module(2, "/lib/other.so", main=False).event(0x1000, 2, DATA)
    cli("profile", writer.write(tmp_path / "t"), program.trace(tmp_path / "u", "main"),
        library.event(main).write(tmp_path / "v"), "-o", tmp_path / "p")
    read = profile.read(tmp_path / "p")
    assert (read.runs, read.data_runs) == (3, 2)
    found = {name.name: (name.kind, name.section_class, touch.runs)
             for name, touch in read.touches.items()}
    assert found.items() >= {
        b"main": ("function", "text", 3), b"table": ("data", "rodata", 1),
        b"counter": ("data", "data", 1), b"zeros": ("data", "bss", 1),
        b"pointer": ("data", "relro", 1)}.items()
    amounts = {name.name: touch.touched for name, touch in read.touches.items()}
    assert (amounts[b"main"], amounts[b"table"]) == (Touched(32 - main % 16, 1), Touched(32, 1))


def test_a_weight_counts_as_that_many_runs(link, cli, profiled, tmp_path):
    """--weighted-input gives traces, folders and profiles a weight, beside those without."""
    program, rare = link(), tmp_path / "rare"
    rare.mkdir()
    program.trace(rare / "a.fltrace", "main", "f1")
    program.trace(rare / "b.fltrace", "main", "f2")
    trace = program.trace(tmp_path / "t", "main")
    assert profiled(trace, "--weighted-input", f"3,{rare}") == (
        7, [("main", 7, 0), ("f1", 3, 1), ("f2", 3, 1)])
    assert profiled(f"--weighted-input=2,{tmp_path / 'p'}", f"--weighted-input=1,{trace}") == (
        15, [("main", 15, 0), ("f1", 6, 1), ("f2", 6, 1)])
    for given in ([trace, f"--weighted-input=3,{trace}"],
                  [f"--weighted-input=3,{trace}", f"--weighted-input=2,{trace}"]):
        for arguments in (given, given[::-1]):
            assert profiled(*arguments) == (3, [("main", 3, 0)])
    # It is a positive whole number.
    for weight in ("0,t", "-1,t", "1.5,t", "t", "2,", ",t", "1000000000,t"):
        assert "WEIGHT,PATH" in cli("profile", f"--weighted-input={weight}", code=2).err


def test_any_order_and_any_partition_give_the_same_bytes(link, cli, tmp_path):
    """By way of any partial profiles, of two builds; the same bytes are not written again."""
    (tmp_path / "new").mkdir()
    builds = link(), link(source=OTHER, name="new/app")
    runs = [["main", "f1", "f2"], ["f2", "main"], ["f3", "f1"], ["main", "f1", "f2", "f4", "f5"]]
    traces = [builds[i % 2].trace(tmp_path / f"{i}", *run) for i, run in enumerate(runs)]
    whole, part = tmp_path / "whole", tmp_path / "part"
    cli("profile", *traces, "-o", whole)
    before = whole.stat()
    cli("profile", *reversed(traces), "-o", whole)
    assert (whole.stat().st_ino, whole.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    for cut in (1, 2, 3):
        cli("profile", *traces[:cut], "-o", part)
        assert cli("profile", *traces[cut:], part).out == whole.read_text()
    assert entries(whole) == [("f2", 3, 0), ("main", 3, 0), ("f3", 1, 0), ("f1", 3, 1),
                              ("f4", 1, 3), ("f5", 1, 4)]
    kept = profile.read(whole).kept
    together = [{name.name.decode() for name, word in kept.touches.items() if word >> bit & 1}
                for bit in range(len(kept.runs))]
    assert len(together) == 4 and all(set(run) in together for run in runs)


def test_the_map_is_for_all_traces_if_one_has_data(link, cli, tmp_path):
    """A static function has one name, whether a trace of functions comes before one of data."""
    program = link(f"-Wl,-Map={tmp_path / 'app.map'}")
    writer = writer_of(program)
    writer.event(program.addresses["helper"]).event(program.addresses["table"], kind=DATA)
    traces = [writer.write(tmp_path / "d"), program.trace(tmp_path / "f", "helper")]
    whole = cli("profile", *traces, "--map", tmp_path / "app.map").out
    assert whole.count("helper") == 1
    assert whole == cli("profile", *reversed(traces), "--map", tmp_path / "app.map").out


def test_a_folder_stands_for_its_traces(link, cli, tmp_path):
    """All traces of a folder are read, numbered ones too; a file that comes twice counts once."""
    program, folder = link(), tmp_path / "traces"
    folder.mkdir()
    assert "no input" in cli("profile", code=2).err
    assert "frontload record -o" in cli("profile", folder, code=65).err
    first = program.trace(folder / "app.1.fltrace", "main")
    program.trace(folder / "app.1.fltrace.1", "main", "f1")
    (folder / "readme").write_text("not a trace")
    result = cli("profile", folder, first, "-o", tmp_path / "p")
    assert entries(tmp_path / "p") == [("main", 2, 0), ("f1", 1, 1)]
    assert "given twice" in result.err


def test_several_programs_need_a_choice(link, cli, run, llvm, tmp_path):
    """Traces of several programs are listed with counts."""
    a, b = link(name="a"), link(name="b")
    run(llvm / "llvm-strip", a.path)
    traces = [a.trace(tmp_path / "1", "main"), b.trace(tmp_path / "2", "f1"),
              b.trace(tmp_path / "3", "f2")]
    result = cli("profile", *traces, "-o", tmp_path / "p", code=2)
    assert result.err == ("frontload: error: the inputs are of 2 programs: b (2), a (1)\n"
                          "frontload: note: choose one with --program NAME\n")
    assert not (tmp_path / "p").exists()
    result = cli("profile", *traces, "-o", tmp_path / "p", "--program", "b")
    assert entries(tmp_path / "p") == [("f1", 1, 0), ("f2", 1, 0)]
    assert "1 input of other programs" in result.err
    result = cli("profile", *traces, "--program", "ap", code=65)
    assert "ap: no input belongs to this program" in result.err and "a (1)" in result.err


def test_a_profile_can_be_of_a_shared_library(link, profiled, tmp_path):
    """--program may name a library that was recorded; its ranks count it alone."""
    (tmp_path / "lib").mkdir()
    app, library, plugin = link(), *(link("-shared", name=name, flags=["-fPIC"])
                                     for name in ("libf.so", "lib/app"))
    writer = TraceWriter().module(1, str(plugin.path), plugin.build_id, main=False)
    writer.module(2, str(library.path), library.build_id, main=False)
    writer.module(3, str(app.path), app.build_id).event(plugin.addresses["f1"], 1)
    for program, number, name in ((app, 3, "main"), (library, 2, "f2"), (library, 2, "f1")):
        writer.event(program.addresses[name], number)
    writer.write(tmp_path / "t")
    for program, expected in ((None, [("main", 1, 0)]), ("app", [("main", 1, 0)]),
                              (plugin.path, [("f1", 1, 0)]),
                              ("libf.so", [("f2", 1, 0), ("f1", 1, 1)])):
        chosen = ["--program", program] if program else []
        assert profiled(tmp_path / "t", *chosen) == (1, expected)
    assert profile.read(tmp_path / "p").program == b"libf.so"


def test_the_binary_has_to_be_the_recorded_one(link, cli, run, llvm, profiled, tmp_path):
    """Both build-ids and the remedy are named; --binary says where it has gone."""
    program = link()
    trace, recorded = program.trace(tmp_path / "t", "main"), program.build_id
    moved = program.path.rename(tmp_path / "moved")
    assert "--binary PATH" in cli("profile", trace, code=2).err
    assert profiled(trace, "--binary", moved) == (1, [("main", 1, 0)])
    other = link(source=OTHER)
    result = cli("profile", trace, "-o", tmp_path / "q", code=65)
    assert recorded.hex() in result.err and other.build_id.hex() in result.err
    assert "--binary PATH" in result.err and not (tmp_path / "q").exists()
    # Without build-ids there is a warning; a stripped program and a script have no names.
    program = link("-Wl,--build-id=none")
    trace = program.trace(tmp_path / "t", "main")
    assert "has no build-id" in cli("profile", trace).err
    run(llvm / "llvm-strip", program.path)
    assert "is stripped" in cli("profile", trace, code=65).err
    program.path.write_text("#!/bin/sh\n")
    assert "not an ELF file" in cli("profile", trace, code=65).err


def test_a_run_without_first_touches_is_left_out(link, cli, tmp_path):
    """A forked child that touched nothing new is no run; if there is no other, that is an error."""
    program, path = link(), tmp_path / "p"
    empty, nameless = program.trace(tmp_path / "1"), program.trace(tmp_path / "3", 0x10)
    full = program.trace(tmp_path / "2", "main", 0x10, dropped=7)
    said = cli("profile", empty, full, nameless, "-o", path).err
    assert "2 traces without" in said and "2 first touches of 3 without a symbol" in said
    assert "7 first touches lost" in said
    assert (profile.read(path).runs, entries(path)) == (1, [("main", 1, 0)])
    before = path.read_bytes()
    assert "no first touch" in cli("profile", empty, "-o", path, code=65).err
    assert path.read_bytes() == before


def test_forked_children_are_part_of_their_run(link, profiled, tmp_path):
    """What workers of a server touch comes after what it has touched, in whatever order."""
    program = link()
    child = program.trace(tmp_path / "1", "helper", "f3", minor=2, run=7, pid=30, forked=1)
    parent = program.trace(tmp_path / "2", "main", "helper", minor=2, run=7, pid=40)
    other = program.trace(tmp_path / "3", "main", minor=2, run=8, pid=30)
    assert profiled(child, parent, other) == (2, [("main", 2, 0), ("helper", 1, 1), ("f3", 1, 2)])
    assert profiled(parent, "--weighted-input", f"5,{child}")[0] == 5
    # Before 1.2 these bytes said nothing.
    older = [program.trace(tmp_path / name, "main", minor=1, run=7) for name in "45"]
    assert profiled(*older)[0] == 2


def test_runs_that_failed_count_as_one_together(link, profiled, tmp_path):
    """Crashes and usage errors in a test suite have little weight, in any order, unless nothing
    else ran."""
    program = link()
    bad = [program.trace(tmp_path / f"bad{run}", "main", name, minor=5, failed=1, run=run)
           for run, name in enumerate(("f1", "f2", "f2"), 1)]
    good = [program.trace(tmp_path / f"good{run}", "main", "f5", minor=5, run=run)
            for run in range(4, 8)]
    found = 5, [("main", 5, 0), ("f5", 4, 1), ("f1", 1, 1), ("f2", 1, 2)]
    assert profiled(*bad, *good) == profiled(*reversed([*bad, *good])) == found
    assert profiled(*bad) == (3, [("main", 3, 0), ("f2", 2, 1), ("f1", 1, 1)])
    # The failures of another program are not compared with this one's.
    other = TraceWriter().module(1, "/other").event(1).write(tmp_path / "o", minor=5, run=9)
    assert profiled("--program", "app", *bad, other)[0] == 3


@pytest.mark.parametrize(("contents", "code", "what"), [
    (b"hello\n", 65, "not a trace"),
    (b"frontload-startup-profile 2\nprogram app\nruns 1\nrubbish\tline\n", 65, ":4: "),
    (None, 2, "No such file"),
])
def test_one_bad_input_fails_unless_partial_is_allowed(link, cli, tmp_path, contents, code, what):
    """A bad file among good ones fails and writes nothing; --allow-partial says what is lost."""
    good, bad = link().trace(tmp_path / "good", "main"), tmp_path / "bad"
    if contents is not None:
        bad.write_bytes(contents)
    result = cli("profile", good, bad, "-o", tmp_path / "p", code=code)
    assert f"frontload: error: {bad}" in result.err and what in result.err
    result = cli("profile", bad, "-o", tmp_path / "p", "--allow-partial", code=65)
    assert "none of the inputs can be used" in result.err
    assert not (tmp_path / "p").exists()
    result = cli("profile", good, bad, "-o", tmp_path / "p", "--allow-partial")
    assert "1 of 2 inputs left out" in result.err and what in result.err
    assert entries(tmp_path / "p") == [("main", 1, 0)]


def test_what_is_left_out_is_told_one_by_one(link, cli, tmp_path):
    """Each that is lost, with its reason; others of its folder and of its run are not."""
    program, other = link(), link(source=OTHER, name="other")
    folder = tmp_path / "traces"
    folder.mkdir()
    program.trace(folder / "1.fltrace", "main", "f1", minor=2, run=5, pid=1)
    stale = TraceWriter().module(1, str(program.path), other.build_id)
    stale.event(program.addresses["f3"])
    stale.write(folder / "2.fltrace", minor=2, run=5, pid=2, forked=1)
    program.trace(folder / "3.fltrace", "f2", minor=2, run=5, pid=3, forked=1)
    (folder / "4.fltrace").write_bytes((folder / "1.fltrace").read_bytes()[:-3])
    program.trace(folder / "5.fltrace", "main", minor=2, run=6, pid=5)
    *lost, count, made = cli("profile", folder, "--allow-partial", "-o", tmp_path / "p").err \
        .splitlines()
    assert len(lost) == 2 and all(line.endswith(": this input is left out") for line in lost)
    assert "4.fltrace: truncated inside slot" in lost[0]
    assert f"but {folder}/2.fltrace recorded {other.build_id.hex()}" in lost[1]
    assert count == "frontload: warning: 2 of 5 inputs left out"
    assert made == "frontload: note: app: 3 names from 2 runs"
    assert entries(tmp_path / "p") == [("main", 2, 0), ("f1", 1, 1), ("f2", 1, 2)]


def test_a_profile_of_a_role_has_its_traces_only(link, cli, profiled, tmp_path):
    """Also if all of them are processes of one run; each role that is asked for has to be there."""
    program, folder, path = link(), tmp_path / "roles", tmp_path / "p"
    folder.mkdir()
    for role, name in ((b"renderer", "f1"), (b"renderer", "f2"), (b"gpu", "helper"), (b"", "main")):
        program.trace(folder / f"{name}.fltrace", name, minor=3, role=role, run=5,
                      forked=name != "main")
    result = cli("profile", folder, "--role", "gpu", "--role", "tab", "-o", path, code=65)
    assert result.err == (
        "frontload: error: no trace is of a process with the role 'tab'\n"
        "frontload: note: the roles of these traces: renderer (2), gpu (1), none (1)\n")
    assert not path.exists()
    for wanted, names in ((["renderer"], ["f1", "f2"]), (["gpu"], ["helper"]),
                          (["gpu", "renderer"], ["f1", "f2", "helper"]),
                          ([], ["f1", "f2", "helper", "main"])):
        runs, found = profiled(folder, *(f"--role={role}" for role in wanted))
        assert (runs, sorted(name for name, _, _ in found)) == (1, names)
    assert "startup profiles have no roles" in cli("profile", path, "--role", "gpu", code=65).err
    assert "not a role" in cli("profile", folder, "--role", "two words", code=2).err


def test_names_of_few_runs_may_be_left_out(link, cli, tmp_path):
    """--min-share is a share of the runs; a profile without names is not written."""
    program, names = link(), ["main", "f1", "f2", "f3", "f4", "f5", "helper", "last"]
    traces = [program.trace(tmp_path / f"{number}.fltrace", *names[:count])
              for number, count in enumerate([1, *[7, 8] * 20])]
    result = cli("profile", *traces, "--min-share", 60, "-o", tmp_path / "p")
    assert "app: 1 name of fewer than 60% of the runs left out" in result.err
    assert {name.name.decode() for name in profile.read(tmp_path / "p").touches} == set(names[:7])
    cli("profile", tmp_path / "p", "--min-share", 100, "-o", tmp_path / "q")
    assert [name.name for name in profile.read(tmp_path / "q").touches] == [b"main"]
    apart = [program.trace(tmp_path / name, name) for name in ("f1", "f2")]
    result = cli("profile", *apart, "--min-share", 60, "-o", tmp_path / "r", code=65)
    assert "no name is left" in result.err and not (tmp_path / "r").exists()
