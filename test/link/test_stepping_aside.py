"""A front that is not worth having: the program is linked without one, as by ld.lld."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from linking import ALWAYS, LD_FRONTLOAD, TWO_FUNCTIONS, check_run, compile_text, write_profile
from places import LLVM

# As lld does it, so the linker's own choice stands.
FLAGS = ["-e", "main", "--no-gc-sections", "-pie"]


def run(folder: Path, *arguments) -> subprocess.CompletedProcess:
    """What a user gets, who has not said whether the front is to stay: `out`, and a report."""
    command = [LD_FRONTLOAD, *FLAGS, *arguments, "-o", folder / "out"]
    if profile := next(folder.glob("app.startup"), None):
        command += [f"--startup-profile={profile}", f"--front-report={folder / 'report'}"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result


def is_plain(folder: Path, *arguments) -> bool:
    """Whether the output is that of lld."""
    check_run(LLVM / "ld.lld", *FLAGS, *arguments, "-o", folder / "plain")
    return (folder / "plain").read_bytes() == (folder / "out").read_bytes()


def report(folder: Path) -> dict:
    return json.loads((folder / "report").read_text())


@pytest.fixture
def program(tmp_path) -> Path:
    """The loader writes to one page of its table, which is in the front as a whole."""
    return compile_text(tmp_path, "a.s", """.section .text.main,"ax"
.globl main; .type main,@function; main: call helper; ret; .size main, .-main
.section .text.helper,"ax"
.globl helper; .type helper,@function; helper: ret; .size helper, 1
.section .data.rel.ro.table,"aw"
.quad main; .skip 250000
""")


@pytest.fixture
def profile(tmp_path) -> Path:
    return write_profile(tmp_path, "main", "helper")


def test_a_small_program_is_linked_as_by_lld(tmp_path, program, profile):
    """It is said and reported, no file of the front's is left, and texts are those of this link."""
    before = set(tmp_path.iterdir())
    result = run(tmp_path, program, f"-Map={tmp_path / 'map'}")
    assert {path.name for path in set(tmp_path.iterdir()) - before} == {"out", "map", "report"}
    assert "__frontload" not in (tmp_path / "map").read_text()
    assert is_plain(tmp_path, program)
    assert "linked without a front: a cold start may read" in result.stderr
    assert ALWAYS in result.stderr
    told = report(tmp_path)
    assert told["front"] is None
    assert any(start["front"]["bytes"] > start["plain"]["bytes"] for start in told["starts"])


def test_a_very_small_program_keeps_its_front(tmp_path, profile):
    """All of it is read at once, in any case."""
    run(tmp_path, compile_text(tmp_path, "a.c", TWO_FUNCTIONS))
    assert report(tmp_path)["front"]["bytes"] < 1 << 16 and not report(tmp_path)["starts"]


def test_a_large_program_keeps_its_front(tmp_path):
    """One of 8 MB, of which startup touches a function here and there."""
    text = "".join(f""".section .text.pad{i},"ax"; .skip 131072
.section .text.hot{i},"ax"; .globl hot{i}; .type hot{i},@function; hot{i}: ret; .size hot{i}, 1
""" for i in range(64))
    program = compile_text(tmp_path, "a.s", text + ".globl main; main: ret\n")
    write_profile(tmp_path, *(f"hot{i}" for i in range(64)))
    assert "without a front" not in run(tmp_path, program).stderr
    assert not is_plain(tmp_path, program)
    told = report(tmp_path)
    assert told["front"]["bytes"] < 1 << 20
    for start in told["starts"]:
        assert start["front"]["bytes"] < start["plain"]["bytes"] / 10


@pytest.mark.parametrize(("options", "plain"), [
    (["--verbose"], True), ([ALWAYS], False), ([ALWAYS, "--front-never"], True)])
def test_what_the_user_says_counts(tmp_path, program, profile, options, plain):
    """The last of it. The profile stays a dependency: when it changes, so may the choice."""
    result = run(tmp_path, program, *options, f"--dependency-file={tmp_path / 'depends'}")
    assert is_plain(tmp_path, program) == plain
    assert ("without a front" in result.stderr) == ("--verbose" in options)
    assert str(profile) in (tmp_path / "depends").read_text()


@pytest.mark.parametrize("option", ["--startup-profile={}", ""])
def test_all_options_of_a_response_file_are_kept(tmp_path, program, profile, option):
    option = option.format(profile)
    response = f"'{program}' -o '{tmp_path / 'out'}' --defsym=answer=42 {option}"
    check_run("bash", "-c", f'exec "$0" {" ".join(FLAGS)} @<(echo "$1")', LD_FRONTLOAD, response)
    assert is_plain(tmp_path, program, "--defsym=answer=42")


@pytest.mark.parametrize(("option", "text"), [
    ("", "INPUT({program})"), ("--version-script=", "{{ global: main; local: *; }};"),
    ("--dynamic-list=", "{{ helper; }};"), ("--export-dynamic-symbol-list=", "{{ helper; }};"),
    ("--retain-symbols-file=", "main"), ("-T", "answer = 42;"),
    ("--lto-sample-profile=", "helper:9:9\n 1: 9\n"), ("@", "--defsym=answer=42")])
def test_an_input_that_can_be_read_once(tmp_path, program, profile, option, text):
    """A link that begins again without a front reads what it has kept: of <(command), a named pipe,
    what is piped to /dev/stdin, a terminal."""
    bitcode = compile_text(tmp_path, "b.c", "int other(int x) { return x; }\n", "-flto", "-gmlt",
                           compiler="clang")
    file, fifo, terminal = tmp_path / "file", tmp_path / "fifo", os.openpty()
    file.write_text(text.format(program=program))
    inputs = ["-E", *([program] if option else []), *([bitcode] if "lto" in option else [])]
    os.mkfifo(fifo)
    arguments = [LD_FRONTLOAD, *FLAGS, *inputs, "-o", tmp_path / "out",
                 f"--startup-profile={profile}"]
    for way in ('"$@" {}<(cat "$0")', 'cat "$0" | "$@" {}/dev/stdin',
                f'cat "$0" > {fifo} & "$@" {{}}{fifo}', f'"$@" {{}}/dev/fd/{terminal[1]}'):
        if "fd" in way:
            os.write(terminal[0], f"{file.read_text()}\n\4".encode())
        result = subprocess.run(["bash", "-c", way.format(option), file, *arguments],
                                capture_output=True, text=True, pass_fds=terminal, timeout=60)
        assert result.returncode == 0 and "without a front" in result.stderr, result.stderr
        assert is_plain(tmp_path, *inputs, f"{option}{file}"), way


def test_what_is_shown_is_of_the_file_that_stays(tmp_path, program, profile):
    """A map that has gone to a pipe cannot be taken back, so nothing is written before it is clear
    which file will be."""
    result = run(tmp_path, program, "-Map=/dev/stdout")
    assert result.stdout.count("VMA") == 1
    assert "__frontload" not in result.stdout
    assert is_plain(tmp_path, program)
