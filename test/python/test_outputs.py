"""Where results go: --json FILE and -o FILE mean the same in all verbs, and spare other files."""

import pytest
from faults_writer import PAGE, FaultsWriter, plain_file
from frontload.cli import main as command_line


def parsed(verb: str, *args) -> object:
    return command_line.verb_parser(verb).parse_args([str(arg) for arg in args])


@pytest.mark.parametrize(("verb", "rest"), [
    ("info", []), ("check", ["--profile=p", "app"]), ("measure", ["--", "./app"]),
    ("report", ["f"])])
def test_json_names_a_file_or_stdout(verb, rest):
    for form in (["--json", "new.json"], ["--json=new.json"]):
        assert parsed(verb, *form, *rest).json == "new.json"
    assert parsed(verb, "--json", "-", *rest).json == "-" and parsed(verb, *rest).json is None


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
    data = FaultsWriter(plain_file("/a")).to_bytes()  # cannot be recorded again
    for name in ("one.json", "two.json"):
        (tmp_path / name).write_bytes(data)
    if verb == "report":
        assert "left as it is" in cli(verb, "--json", "one.json", "two.json", code=2).err
        assert (tmp_path / "one.json").read_bytes() == data


def test_compared_outputs(cli, tmp_path, monkeypatch):
    """--compare-output takes FILE, - for stdout, and no program."""
    monkeypatch.chdir(tmp_path)
    args = parsed("measure", "--compare-output", "out", "--compare-output=-", "app")
    assert (args.compare_output, args.command) == (["out", "stdout"], ["app"])
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
            (["import", "--format=lld", "order", "--program", "app"], "frontload-startup-profile"),
            (["report", "f.json"], "<!DOCTYPE html>")):
        plain = "" if args[0] == "report" else cli(*args).out
        shown = cli(*args, "-o", "-").out
        assert shown.lower().startswith(beginning.lower()) and plain in ("", shown)
    for args in (["profile", "t"], ["import", "--format=lld", "order"]):
        # Of a program by its name or path.
        assert (cli(*args, "--program", "app").out == cli(*args, "--program", "./app").out
                == cli(*args, "--program", "/elsewhere/app").out != "")
        assert "is a folder" in cli(*args, "--program", "app/", code=2).err
    assert not (tmp_path / "-").exists()
    for args in (["record", "-o", "-", "--", "true"], ["auto", "-o", "-", "--", "./app"]):
        assert "cannot be written to stdout" in cli(*args, code=2).err
    assert "both write to stdout" in cli("report", "f.json", "-o", "-", "--json", "-", code=2).err
