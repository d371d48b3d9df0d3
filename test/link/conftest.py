"""What tests of one link share: a small program."""

import os
from pathlib import Path

import abilities
import pytest
from linking import TWO_FUNCTIONS, compile_text, ld


@pytest.fixture
def program(tmp_path) -> Path:
    """The object of the smallest program that has something to order."""
    return compile_text(tmp_path, "a.c", TWO_FUNCTIONS)


@pytest.fixture
def refused(tmp_path, program):
    """refused(*arguments, inputs=[program], code=2): links `out`, which must be refused with a
    reason and a remedy; all that was there stays as it was. Returns the reason."""

    def refused(*arguments, inputs=(program,), code: int = 2) -> str:
        output = tmp_path / "out"
        output.write_text("precious")
        before = sorted(tmp_path.rglob("*"))
        result = ld(*inputs, "-o", output, "-e", "main", *arguments, code=code)
        assert output.read_text() == "precious" and sorted(tmp_path.rglob("*")) == before
        error, note, *names = result.stderr.splitlines()
        assert error.startswith("ld.frontload: error: ")
        assert note.startswith("ld.frontload: note: ")
        assert all(line.startswith("  ") for line in names)
        return error

    return refused


@pytest.fixture
def ordinary(tmp_path_factory) -> list[str]:
    """A command prefix by which files' modes hold for a command: without root's rights, and not as
    another user, who may not see where the linker was built."""
    closed = tmp_path_factory.mktemp("closed") / "file"
    closed.touch(mode=0)
    if not os.access(closed, os.R_OK):
        return []
    abilities.need("program:setpriv")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
