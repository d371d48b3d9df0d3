"""frontload info FILE: traces, startup profiles and prefetch lists, as plain text and as JSON."""

import json

import pytest
from frontload.profile import format as profile
from frontload.profile.startup_profile import Name, Profile, Touch, Touched, from_run
from frontload.reading import listing
from frontload.reading.listing import BOTH, MAP, PAGE, File, PrefetchList
from trace_writer import BLOCK, CODE, DATA, TraceWriter

HOSTILE = b"a\nb\x1b[31m\xff\t\xe2\x80\xae"  # a colour, no UTF-8, text turned around
MAIN, HELPER = Name("function", "text", b"main"), Name("function", "text", b"helper", b"app.c")
TABLE = Name("data", "rodata", b"table")


def shown(cli, *args) -> list[str]:
    """The lines that show prints, without what fills up tables."""
    return [line.rstrip() for line in cli("info", *args).out.splitlines()]


def document(cli, *args) -> dict:
    (file,) = json.loads(cli("info", "--json", "-", *args).out)["files"]
    return file


def written(path, *touches: tuple[Name, Touch], runs: int = 200, data_runs: int = 4):
    path.write_bytes(profile.to_bytes(Profile(b"app", runs, dict(touches), data_runs)))
    return path


def listed(program, tmp_path):
    """A trace with an event of each kind, one of which lies in a library that is not there."""
    at = program.addresses
    writer = TraceWriter().module(1, str(program.path), program.build_id)
    writer.module(2, "/lib/gone.so", b"\x12" * 20, main=False)
    writer.event(at["main"]).event(at["f1"] + 4, kind=BLOCK).event(at["f2"], kind=CODE)
    writer.event(at["table"] + 32, kind=DATA).event(0x1230, 2)
    return writer.write(tmp_path / "t", pid=77, minor=3, run=0xabc, forked=1, role=b"worker",
                        dropped=5, next_slot=len(writer.slots))


def test_a_trace_has_modules_with_counts(cli, link, tmp_path):
    """Each module has its build-id, and how many touches of each kind there are."""
    program = link()
    path = listed(program, tmp_path)
    lines = shown(cli, path)
    assert lines[:5] == [f"{path}: trace of app, process 77", "run: abc, forked", "role: worker",
                         "first touches: 5",
                         "lost, because the recorder had no room for them: 5"]
    assert lines[5].split() == ["module", "touches", "function", "block", "code", "data",
                                "build-id"]
    row = next(line for line in lines if line.startswith("/lib/gone.so"))
    assert row.split() == ["/lib/gone.so", "1", "1", "0", "0", "0", "12" * 20]
    cli("info", "--json", tmp_path / "f", path)
    assert json.loads((tmp_path / "f").read_text())["files"] == [document(cli, path)]
    program_there, library = document(cli, path)["modules"]
    assert program_there["main"] and program_there["touches"] == 4
    assert program_there["kinds"] == {"function": 1, "block": 1, "code": 1, "data": 1}
    assert library == {
        "path": "/lib/gone.so", "build_id": "12" * 20, "main": False, "touches": 1,
        "kinds": {"function": 1, "block": 0, "code": 0, "data": 0}}
    lines = shown(cli, TraceWriter().module(1, "/a", complete=False).event(1).write(path))
    assert lines[0].endswith("trace of a program that it does not name, process 1")
    assert "lost, because the record of their module is incomplete: 1" in lines


def test_touches_are_listed(cli, link, tmp_path):
    """--all: in the order of first touch, by address, also of a binary that is gone."""
    program = link()
    path, at = listed(program, tmp_path), program.addresses
    result = cli("info", "--all", path)
    rows = [line.split() for line in result.out.splitlines()[-5:]]
    assert rows == [["function", hex(at["main"]), "app"], ["block", hex(at["f1"] + 4), "app"],
                    ["code", hex(at["f2"]), "app"], ["data", hex(at["table"] + 32), "app"],
                    ["function", "0x1230", "gone.so"]]
    assert result.err == ""
    assert document(cli, "--all", path)["all"][-1] == {
        "kind": "function", "module": "gone.so", "address": 0x1230}


def test_a_profile_has_classes_and_tiers(cli, tmp_path):
    """Names, and the bytes that are known, by kind and class and by the share of runs."""
    path = written(tmp_path / "p", (MAIN, Touch(200, 0, Touched(64, 1))), (HELPER, Touch(198, 1)),
                   (Name("function", "text", b"most"), Touch(197, 1)),
                   (Name("function", "text", b"half"), Touch(100, 2, Touched(32, 1))),
                   (Name("function", "text", b"rare"), Touch(99, 3)),
                   (TABLE, Touch(4, 4, Touched(16, 1))))
    lines = shown(cli, path)
    assert lines[:4] == [f"{path}: startup profile of app", "runs: 200, 4 of them with data",
                         "names: 6",
                         "touched bytes: 112, of 3 names of which a run tells"]
    rows = [line.split() for line in lines[4:]]
    assert rows[1:3] == [["function", "text", "5", "96"], ["data", "rodata", "1", "16"]]
    assert [" ".join(row) for row in rows[4:]] == [
        "every run 2 33.33% 80", "99% or more 1 16.66% not known", "50% or more 2 33.33% 32",
        "fewer 1 16.66% not known"]
    startup = from_run(b"app", [MAIN])
    startup.knows_cold_parts = False
    path.write_bytes(profile.to_bytes(startup))
    assert any(line.startswith("cold parts: not known") for line in shown(cli, path))


def test_entries_are_listed_in_their_order(cli, tmp_path):
    """--all: rank, share of the runs, bytes and name, one entry a line, however long."""
    long = Name("function", "text", b"long" * 500)
    path = written(tmp_path / "p", (TABLE, Touch(1, 7, Touched(48, 1))), (HELPER, Touch(150, 0)),
                   (long, Touch(1, 9)))
    assert [line.split() for line in shown(cli, "--all", path)[-3:]] == [
        ["0", "150", "75.00%", "-", "function", "text", "helper", "(app.c)"],
        ["7", "1", "25.00%", "48", "data", "rodata", "table"],
        ["9", "1", "0.50%", "-", "function", "text", "long" * 500]]


def test_a_prefetch_list_has_files_and_ranges(cli, tmp_path):
    """The largest file first; --all lists the ranges as they were touched."""
    made = PrefetchList(2, {
        File("/a", 9 * PAGE, 0): {0: listing.Touch(5, 2, MAP)},
        File("/b", 3 * PAGE + 7, 0, "c0ffee"): {0: listing.Touch(0, 1, MAP),
                                                3: listing.Touch(2, 2, BOTH)}})
    (tmp_path / "l").write_bytes(listing.to_bytes(made))
    lines = shown(cli, "--all", tmp_path / "l")
    assert lines[:3] == [f"{tmp_path / 'l'}: prefetch list of 2 runs", "files: 2",
                         "touched bytes: 8,199"]
    assert [line.split() for line in lines[-6:]] == [
        ["/b", "4,103", "7", "12,295", "2"], ["/a", "4,096", "4,096", "36,864", "1"],
        ["rank", "runs", "how", "offset", "bytes", "path"],
        ["0", "1", "map", "0", "4096", "/b"], ["2", "2", "both", "12288", "7", "/b"],
        ["5", "2", "map", "0", "4096", "/a"]]
    many = PrefetchList(1, {File(f"/{i:02}", PAGE, 0): {0: listing.Touch(i, 1, MAP)}
                           for i in range(20)})
    (tmp_path / "l").write_bytes(listing.to_bytes(many))
    *_, last, rest = shown(cli, tmp_path / "l")
    assert (last.split()[0], rest) == ("/14", "and 5 other files")


def test_names_from_files_are_escaped(cli, tmp_path):
    """Whatever bytes a name has, it is one line and steers no terminal."""
    hostile = Name("function", "text", HOSTILE, HOSTILE)
    (tmp_path / "l").write_bytes(listing.to_bytes(PrefetchList(1, {
        File("/a\n\x1b\u202e", PAGE, 0): {0: listing.Touch(0, 1, MAP)}})))
    for path in (written(tmp_path / "p", (hostile, Touch(1, 0))), tmp_path / "l",
                 TraceWriter().module(1, b"/" + HOSTILE).event(1).write(tmp_path / "t")):
        out = cli("info", "--all", path).out
        assert not {"\x1b", "\u202e", "\t"} & set(out) and "\nb" not in out, path


@pytest.mark.parametrize(("content", "what"), [
    (b"\x7fELF",
     "neither a trace, nor a startup profile, nor a prefetch list (at byte 0)"),
    (TraceWriter().module(1, "/a").event(1).to_bytes()[:-3], "truncated inside slot 2 (at byte"),
    (b"frontload-startup-profile 2\nprogram a\nruns 1\nfunction\t\n", ":4: "),
    (b"frontload-files 1\nruns 1\nfile\t/a\t1\n", ":3: is neither a file"),
])
def test_bad_files_are_refused(cli, tmp_path, content, what):
    """A damaged file is named with the place of the damage, and nothing is shown or written."""
    (tmp_path / "good").write_bytes(profile.to_bytes(from_run(b"app", [MAIN])))
    (tmp_path / "bad").write_bytes(content)
    result = cli("info", "--json", tmp_path / "out", tmp_path / "good", tmp_path / "bad", code=65)
    assert f"error: {tmp_path / 'bad'}" in result.err and what in result.err
    assert result.out == "" and not (tmp_path / "out").exists()


def test_a_folder_is_its_traces(cli, link, tmp_path):
    """Each trace in it is shown."""
    folder = tmp_path / "d"
    folder.mkdir()
    assert "has no traces" in cli("info", folder, code=2).err
    assert "No such file" in cli("info", folder / "t", code=2).err
    program = link()
    for name in "ab":
        program.trace(folder / f"{name}.fltrace", "main")
    lines = shown(cli, folder)
    assert [line.split(": ")[0] for line in lines if ": trace of" in line] == [
        str(folder / f"{name}.fltrace") for name in "ab"]
