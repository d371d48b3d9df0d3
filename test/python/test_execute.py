"""What frontload-exec and frontload-run start is what execvp(3) starts, but that no shell reads a
program as a script."""

import os
from pathlib import Path

import pytest

# Were a shell to read them, they would say so.
_SCRIPT = b"\necho the shell has read it\n"
_TRUE = Path("/bin/true").resolve().read_bytes()
_S390 = 22  # of the other byte order: no emulator is registered for such a file
BINARIES = {"for another machine": _TRUE[:18] + _S390.to_bytes(2, "little") + _TRUE[20:],
            "cut short": _TRUE[:20] + _SCRIPT, "damaged": b"\177ELF" + _SCRIPT,
            "another format": b"MZ\x90\0" + _SCRIPT}


@pytest.fixture(params=["measured", "prefetched", "before libc"])
def execute(request, build, run, tmp_path):
    """execute(*command, path=None): its result, by each way in which a launcher executes."""
    files = tmp_path / "app.files"
    files.write_text("frontload-files 1\nruns 1\n")
    launcher = {"measured": ["frontload-exec", f"--output={tmp_path}/line", "--"],
                "prefetched": ["frontload-run", "--"],
                "before libc": ["frontload-run", f"--files={files}", "--"]}[request.param]

    def execute(*command, path=None):
        environment = os.environ | ({} if path is None else {"PATH": path})
        return run(build / "bin" / launcher[0], *launcher[1:], *command, env=environment,
                   cwd=tmp_path, code=None)

    return execute


def _put(path: Path, contents: bytes, mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(contents)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("kind", BINARIES)
def test_a_program_that_the_kernel_does_not_know(kind, execute, tmp_path):
    """It is refused in words, with the status that env(1) has for it."""
    _put(tmp_path / "command", BINARIES[kind])
    result = execute("./command")
    assert (result.returncode, result.stdout) == (126, "")
    error, note = result.stderr.splitlines()
    assert error.endswith(": error: ./command: cannot be run: Exec format error")
    assert note.endswith(": note: it is neither a script nor a program for this machine, or is "
                         "damaged")


SAYS = b'echo "$0 $*"\n'


@pytest.mark.parametrize("contents", [b"\n" + SAYS, SAYS + b"exit\n\0\1\2"],
                         ids=["empty first line", "something behind it"])
def test_a_script_that_names_no_interpreter(contents, execute, tmp_path):
    """It is the shell's, with all arguments, as ever; an empty one does nothing."""
    _put(tmp_path / "empty", b"")
    assert execute("./empty").returncode == 0
    _put(tmp_path / "command", contents)
    result = execute("./command", "a b", "c")
    assert (result.returncode, result.stdout, result.stderr) == (0, "./command a b c\n", "")


def test_the_first_in_path(execute, tmp_path):
    """It is executed, or refused; what cannot be executed at all is passed over."""
    first, second = tmp_path / "first", tmp_path / "second"
    path = f"/nonexistent:/etc/passwd:{first}:{second}"
    _put(second / "command", b"#!/bin/sh\necho second\n")
    _put(first / "command", b"echo first\n")
    assert execute("command", path=path).stdout == "first\n"
    _put(first / "command", BINARIES["damaged"])
    assert execute("command", path=path).returncode == 126
    _put(first / "command", b"echo first\n", mode=0o644)
    assert execute("command", path=path).stdout == "second\n"


def test_what_the_error_is(execute, tmp_path):
    """Nowhere, or there and not executable: in words, and with a shell's status."""
    _put(tmp_path / "folder/command", SAYS, mode=0o644)
    (tmp_path / "closed").mkdir(mode=0)
    for command, path, code in (("command", "/nonexistent:", 127),
                                ("command", f"{tmp_path}/closed:", 127),
                                ("command", f"{tmp_path}/folder:/nonexistent", 126),
                                ("", "/", 127), ("./missing", "/", 127), ("/", "/", 126)):
        result = execute(command, path=path)
        assert result.returncode == code
        assert f": error: {command}: cannot be run: " in result.stderr
        assert ": note: give its path" in result.stderr
