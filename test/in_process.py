"""The command `frontload` in this process, which is ten times faster than starting it. Tests of
test/python have the fixture `cli`, which shows more."""

import contextlib
import io

import pytest
from frontload.cli import main as command_line
from places import BUILD


def frontload(*arguments, code: int = 0) -> str:
    """Runs the command, which has to end with this exit code; returns all that it says."""
    said = io.TextIOWrapper(io.BytesIO(), write_through=True)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said), \
            contextlib.redirect_stderr(said):
        patch.setenv("FRONTLOAD_BINDIR", str(BUILD / "bin"))
        status = command_line.main([str(argument) for argument in arguments])
    text = said.buffer.getvalue().decode()
    assert status == code, f"{arguments}: exit {status}, expected {code}\n{text}"
    return text
