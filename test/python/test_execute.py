"""What frontload-exec and frontload-run start is what execvp(3) starts, but that no shell reads a
program as a script."""

import os
import subprocess
from pathlib import Path

import pytest

# Were a shell to read them, they would say so.
_SCRIPT = b"\necho the shell has read it\n"
_S390 = 22  # of the other byte order: no emulator is registered for such a file


def _for_another_machine() -> bytes:
    program = bytearray(Path("/bin/true").resolve().read_bytes())
    program[18:20] = _S390.to_bytes(2, "little")
    return bytes(program)


BINARIES = {"for another machine": _for_another_machine,
            "cut short": lambda: Path("/bin/true").resolve().read_bytes()[:20] + _SCRIPT,
            "damaged": lambda: b"\177ELF" + _SCRIPT,
            "another format": lambda: b"MZ\x90\0" + _SCRIPT}


@pytest.fixture(params=["measured", "prefetched", "before libc"])
def start(request, build, tmp_path):
    """start(*command, path=None): its result, by each of the ways in which a launcher executes."""
    files = tmp_path / "app.files"
    files.write_text("frontload-files 1\nruns 1\n")
    launcher = {"measured": ["frontload-exec", f"--output={tmp_path}/line", "--"],
                "prefetched": ["frontload-run", "--"],
                "before libc": ["frontload-run", f"--files={files}", "--"]}[request.param]

    def start(*command, path=None):
        environment = os.environ | ({} if path is None else {"PATH": path})
        return subprocess.run([build / "bin" / launcher[0], *launcher[1:], *command],
                              env=environment, cwd=tmp_path, capture_output=True, text=True)

    return start


def _put(path: Path, contents: bytes, mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(contents)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("kind", BINARIES)
def test_a_program_that_the_kernel_does_not_know(kind, start, tmp_path):
    """It is refused in words, with the status that env(1) has for it."""
    _put(tmp_path / "command", BINARIES[kind]())
    result = start("./command")
    assert (result.returncode, result.stdout) == (126, "")
    error, note = result.stderr.splitlines()
    assert error.endswith(": error: ./command: cannot be run: Exec format error")
    assert note.endswith(": note: it is neither a script nor a program for this machine, or is "
                         "damaged")


SAYS = b'echo "$0 $*"\n'


@pytest.mark.parametrize("contents", [SAYS, b"\n" + SAYS, SAYS + b"exit\n\0\1\2"],
                         ids=["plain", "empty first line", "something behind it"])
def test_a_script_that_names_no_interpreter(contents, start, tmp_path):
    """It is the shell's, with all arguments, as ever."""
    _put(tmp_path / "command", contents)
    result = start("./command", "a b", "c")
    assert (result.returncode, result.stdout, result.stderr) == (0, "./command a b c\n", "")


def test_an_empty_file(start, tmp_path):
    """It is a script that does nothing."""
    _put(tmp_path / "command", b"")
    assert start("./command").returncode == 0


def test_the_first_in_path(start, tmp_path):
    """It is executed, or refused, whatever is in folders behind that; what cannot be executed at
    all is passed over."""
    first, second = tmp_path / "first", tmp_path / "second"
    path = f"/nonexistent:/etc/passwd:{first}:{second}"
    _put(second / "command", b"#!/bin/sh\necho second\n")
    _put(first / "command", b"echo first\n")
    assert start("command", path=path).stdout == "first\n"
    _put(first / "command", BINARIES["damaged"]())
    assert start("command", path=path).returncode == 126
    _put(first / "command", b"echo first\n", mode=0o644)
    assert start("command", path=path).stdout == "second\n"


def test_what_the_error_is(start, tmp_path):
    """A command that is nowhere is told from one that is there and may not be executed."""
    _put(tmp_path / "folder/command", SAYS, mode=0o644)
    assert start("command", path="/nonexistent:").returncode == 127
    assert start("command", path=f"{tmp_path}/folder:/nonexistent").returncode == 126
    assert start("").returncode == 127
