"""Where results go: --json FILE and -o FILE mean the same in all verbs, and neither takes a file
that was meant as something else."""

import json
import tracemalloc

import pytest
from faults_writer import PAGE, FaultsWriter, plain_file
from frontload.base import files
from frontload.cli import main as command_line
from frontload.cli import parser as parsing

WITH_JSON = {
    "info": [], "init": [], "auto": ["--", "./app"], "check": ["--profile=p", "app"],
    "files": ["l"], "predict": ["t"], "measure": ["--", "./app"], "faults": ["--", "./app"],
    "report": ["f"], "show": ["t"], "diff": ["old", "new"], "blame": ["p"],
}


def parsed(*args) -> object:
    return parsing.parse(command_line.build_parser(), [str(arg) for arg in args])


def all_parsers() -> list[parsing.Parser]:
    (verbs,) = command_line.build_parser()._subparsers._group_actions
    return [below for verb in verbs.choices.values() for below in parsing.verbs_below(verb)]


def test_no_option_has_an_optional_value():
    """It would take the word after it, which may be the COMMAND."""
    for parser in all_parsers():
        assert not [action.option_strings for action in parser._actions
                    if action.option_strings and action.nargs in ("?", "*")], parser.prog


def test_json_is_the_same_in_all_verbs():
    """Its value is a FILE."""
    found = {parser.prog.split()[-1]: action for parser in all_parsers()
             for action in parser._actions if "--json" in action.option_strings}
    assert found.keys() == WITH_JSON.keys()
    assert {action.metavar for action in found.values()} == {"FILE"}


@pytest.mark.parametrize("verb", WITH_JSON)
def test_json_names_a_file_or_stdout(verb, tmp_path, monkeypatch):
    """FILE, - for stdout; and as it was once typed, alone: at the end, before an option, before --;
    the words before and after it are what they were."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text('{"schema": 1}')
    rest = WITH_JSON[verb]
    for value in ("new.json", "old.json", "-", "/dev/null"):
        for form in (["--json", value], [f"--json={value}"]):
            assert parsed(verb, *form, *rest).json == value
    assert parsed(verb, *rest).json is None
    if rest[:1] != ["--"] and verb != "report":
        assert parsed(verb, *rest, "--json").json == "-"
    if rest and rest[0].startswith("-"):
        without, bare = parsed(verb, *rest), parsed(verb, "--json", *rest)
        assert bare.json == "-"
        assert vars(bare) | {"json": None, "run": None, "parser": None, "usage_error": None} == (
            vars(without) | {"run": None, "parser": None, "usage_error": None})


@pytest.mark.parametrize("verb", ["measure", "faults", "auto", "report"])
def test_json_leaves_a_program_alone(cli, verb, tmp_path, monkeypatch):
    """`faults --json ./a ./b` does not put JSON in the place of ./a; the note says what to type."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"\x7fELF")
    shown = cli(verb, "--json", "./a", "./b", code=2).err
    assert "'./a' exists and is not JSON" in shown and "--json - writes to stdout" in shown
    assert (tmp_path / "a").read_bytes() == b"\x7fELF"
    assert "is a folder" in cli(verb, "--json", tmp_path, "./b", code=2).err


def test_json_before_a_file_of_a_verb_without_command(tmp_path, monkeypatch):
    """The verbs whose --json had no value take it before the files that they read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces").mkdir()
    (tmp_path / "app").write_bytes(b"\x7fELF")
    for args, value in ((["predict", "--json", "traces"], {"traces": ["traces"]}),
                        (["predict", "--json", "app", "traces"], {"traces": ["app", "traces"]}),
                        (["predict", "--json=out", "traces"], {"json": "out"}),
                        (["predict", "--json", "out", "traces"], {"json": "out"}),
                        (["init", "--json", "traces"], {"folder": "traces"}),
                        (["check", "--json", "app", "--profile=p"], {"binary": "app"})):
        found = vars(parsed(*args))
        assert found.items() >= ({"json": "-"} | value).items()


def test_a_recording_is_not_replaced_by_its_report(cli, tmp_path):
    """`report --json one.json two.json` would lose what cannot be recorded again."""
    data = FaultsWriter(plain_file("/a")).to_bytes()
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_bytes(data)
    shown = cli("report", "--json", tmp_path / "one.json", tmp_path / "two.json", code=2).err
    assert "left as it is" in shown and (tmp_path / "one.json").read_bytes() == data


def test_compared_outputs(cli, tmp_path, monkeypatch):
    """--compare-output takes FILE, - or nothing for stdout, and no program, which it would
    remove."""
    monkeypatch.chdir(tmp_path)
    for form, value in ((["--compare-output", "--"], ["stdout"]),
                        (["--compare-output", "-", "--"], ["stdout"]),
                        (["--compare-output", "out", "--compare-output=-"], ["out", "stdout"])):
        args = parsed("measure", *form, "app")
        assert (args.compare_output, args.command) == (value, ["app"])
    (tmp_path / "app").write_text("#!/bin/sh\n")
    (tmp_path / "app").chmod(0o755)
    shown = cli("measure", "--compare-output", "./app", "./app", code=2).err
    assert "'./app' is a program" in shown and (tmp_path / "app").exists()


def test_dash_is_stdout(cli, tools, link, startup, tmp_path, monkeypatch):
    """-o - writes to stdout in every verb that writes text, and makes no file of that name."""
    program, path = link(), startup("main", "f1")
    program.trace(tmp_path / "t", "main", "f1")
    (tmp_path / "order").write_text("main\nf1\n")
    (tmp_path / "f.json").write_bytes(FaultsWriter(plain_file("/a")).phase("main").fault(
        0, PAGE).to_bytes())
    monkeypatch.chdir(tmp_path)
    for args, beginning in (
            (["order", path, "--linker", "lld", "--binary", program.path], "main\nf1\n"),
            (["profile", "t"], "frontload-startup-profile"),
            (["import", "order", "--program", "app"], "frontload-startup-profile"),
            (["report", "f.json"], "<!DOCTYPE html>")):
        plain = "" if args[0] == "report" else cli(*args).out
        shown = cli(*args, "-o", "-").out
        assert shown.lower().startswith(beginning.lower()) and plain in ("", shown)
    assert not (tmp_path / "-").exists()
    for args in (["record", "-o", "-", "--", "true"], ["auto", "-o", "-", "--", "./app"]):
        assert "cannot be written to stdout" in cli(*args, code=2).err
    assert "both write to stdout" in cli("report", "f.json", "-o", "-", "--json", "-", code=2).err


def test_json_to_a_file_keeps_the_tables(cli, tools, tmp_path):
    """--json FILE writes the file besides what is shown, and --json - in its place."""
    shown = cli("info", "--json", tmp_path / "info.json").out
    assert "works" in shown
    schema = json.loads((tmp_path / "info.json").read_text())["schema"]
    assert json.loads(cli("info", "--json", "-").out)["schema"] == schema


def test_a_program_is_named_or_given_by_its_path(cli, link, tmp_path, monkeypatch):
    """--program ./app is --program app, wherever that ./app is."""
    program = link()
    program.trace(tmp_path / "t", "main", "f1")
    (tmp_path / "old.order").write_text("main\n")
    monkeypatch.chdir(tmp_path)
    for args in (["profile", "t"], ["import", "old.order"]):
        assert (cli(*args, "--program", "app").out == cli(*args, "--program", "./app").out
                == cli(*args, "--program", "/elsewhere/app").out != "")
        assert "is a folder" in cli(*args, "--program", "app/", code=2).err


def test_the_same_word_for_the_same_thing():
    """--with, --profile and --program have one meaning; older spellings work unseen."""
    shown: dict[str, set[str]] = {}
    for parser in all_parsers():
        for action in parser._actions:
            for flag in action.option_strings:
                shown.setdefault(flag, set()).add(parser.prog.split()[1])
    assert shown["--with"] == {"record"} and "cargo" not in shown["--profile"]
    assert shown["--beside"] == {"measure", "faults", "report", "auto"}
    assert parsed("measure", "--with", "a", "--beside=b", "--", "x").extra == ["a", "b"]
    assert parsed("cargo", "build", "--profile", "dev").cargo_profile == ["dev"]


def test_a_file_is_copied_in_pieces_and_only_if_it_changed(tmp_path, monkeypatch):
    """A program of a gigabyte is never in memory as a whole; what is the same is left alone."""
    monkeypatch.setattr(files, "_PIECE", 1 << 10)
    source, copy = tmp_path / "app", tmp_path / "kept"
    for content in (b"x" * 500_000, b"x" * 499_999 + b"y", b"x"):
        source.write_bytes(content)
        tracemalloc.start()
        assert files.copy_if_changed(source, copy)
        before = copy.stat().st_ino
        assert not files.copy_if_changed(source, copy)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert copy.read_bytes() == content and copy.stat().st_ino == before
        assert peak < 300_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app", "kept"]
