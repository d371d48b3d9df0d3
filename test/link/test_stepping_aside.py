"""A front that is not worth having: the program is linked without one, as by ld.lld."""

import json
import subprocess
from pathlib import Path

import pytest
from linking import (
    LD_FRONTLOAD,
    LD_LLD,
    NEVER,
    TWO_FUNCTIONS,
    check_run,
    compile_text,
    write_profile,
)

# As lld does it, so the linker's own choice stands.
FLAGS = ["-e", "main", "--no-gc-sections", "-pie"]


def run(*arguments) -> subprocess.CompletedProcess:
    """What a user gets, who has not said whether the front is to stay."""
    command = [str(argument) for argument in (LD_FRONTLOAD, *FLAGS, *arguments)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    return result


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


def plain(tmp_path, *arguments) -> bytes:
    check_run(LD_LLD, *FLAGS, *arguments, "-o", tmp_path / "plain")
    return (tmp_path / "plain").read_bytes()


def test_a_small_program_is_linked_as_by_lld(tmp_path, program, profile):
    out, report = tmp_path / "out", tmp_path / "report"
    result = run(program, "-o", out, f"--startup-profile={profile}", f"--front-report={report}")
    assert out.read_bytes() == plain(tmp_path, program)
    assert "linked without a front: a cold start may read" in result.stderr
    assert "--front-always" in result.stderr
    told = json.loads(report.read_text())
    assert told["front"] is None
    assert any(start["front"]["bytes"] > start["plain"]["bytes"] for start in told["starts"])


def test_a_very_small_program_keeps_its_front(tmp_path, profile):
    """All of it is read at once, in any case."""
    program, report = compile_text(tmp_path, "a.c", TWO_FUNCTIONS), tmp_path / "report"
    run(program, "-o", tmp_path / "out", f"--startup-profile={profile}",
        f"--front-report={report}")
    told = json.loads(report.read_text())
    assert told["front"]["bytes"] < 1 << 16 and not told["starts"]


def test_a_large_program_keeps_its_front(tmp_path):
    """One of 8 MB, of which startup touches a function here and there."""
    text = "".join(f""".section .text.pad{i},"ax"; .skip 131072
.section .text.hot{i},"ax"; .globl hot{i}; .type hot{i},@function; hot{i}: ret; .size hot{i}, 1
""" for i in range(64))
    program = compile_text(tmp_path, "a.s", text + ".globl main; main: ret\n")
    profile = write_profile(tmp_path, *(f"hot{i}" for i in range(64)))
    out, report = tmp_path / "out", tmp_path / "report"
    result = run(program, "-o", out, f"--startup-profile={profile}", f"--front-report={report}")
    assert "without a front" not in result.stderr
    assert out.read_bytes() != plain(tmp_path, program)
    told = json.loads(report.read_text())
    assert told["front"]["bytes"] < 1 << 20
    for start in told["starts"]:
        assert start["front"]["bytes"] < start["plain"]["bytes"] / 10


def test_never(tmp_path, program, profile):
    """The profile stays a dependency: when it changes, so may the choice."""
    out, depends = tmp_path / "out", tmp_path / "depends"
    for option in (NEVER, "--verbose"):
        run(program, "-o", out, f"--startup-profile={profile}", f"--dependency-file={depends}",
            option)
        assert out.read_bytes() == plain(tmp_path, program)
        assert str(profile) in depends.read_text()


def test_always(tmp_path, program, profile):
    result = run(program, "-o", tmp_path / "out", f"--startup-profile={profile}", "--front-always")
    assert "without a front" not in result.stderr
    assert (tmp_path / "out").read_bytes() != plain(tmp_path, program)


def test_the_last_of_both_counts(tmp_path, program, profile):
    run(program, "-o", tmp_path / "out", f"--startup-profile={profile}", "--front-always", NEVER)
    assert (tmp_path / "out").read_bytes() == plain(tmp_path, program)


@pytest.mark.parametrize("option", ["--front-always", NEVER])
def test_both_may_be_among_the_flags_of_all_links(tmp_path, program, option):
    """Such as those that a configure script tries, which have no profile."""
    run(program, "-o", tmp_path / "out", option)
    assert (tmp_path / "out").read_bytes() == plain(tmp_path, program)


def test_all_options_of_a_response_file_are_kept(tmp_path, program, profile):
    """The file may be a pipe, which can be read once."""
    response = f"'{program}' -o '{tmp_path / 'out'}' --defsym=answer=42 --startup-profile={profile}"
    subprocess.run(["bash", "-c", f'exec "$0" {" ".join(FLAGS)} @<(echo "$1")', LD_FRONTLOAD,
                    response], check=True, capture_output=True)
    assert (tmp_path / "out").read_bytes() == plain(tmp_path, program, "--defsym=answer=42")


def test_what_was_shown_is_not_shown_again(tmp_path, program, profile):
    """A map that has gone to a pipe cannot be taken back, so the front stays."""
    result = run(program, "-o", tmp_path / "out", f"--startup-profile={profile}",
                 "-Map=/dev/stdout")
    assert result.stdout.count("VMA") == 1
    assert ".text.front" in result.stdout


def test_nothing_is_left_behind(tmp_path, program, profile):
    folder = tmp_path / "out"
    folder.mkdir()
    run(program, "-o", folder / "app", f"--startup-profile={profile}", f"-Map={folder / 'map'}",
        f"--front-report={folder / 'report'}")
    assert {path.name for path in folder.iterdir()} == {"app", "map", "report"}
    assert ".text.front" not in (folder / "map").read_text()
