"""The role of a process: --role, and FRONTLOAD_ROLE in the environment that it is started with."""

import os

import pytest
from traced import Binary


@pytest.fixture
def program(compile):
    return compile("roles.c", "-O1")


@pytest.fixture
def entered(program, record):
    """entered(options, *words): role and own functions of each process, sorted, and stderr."""
    binary = Binary(program)

    def entered(options, *words, **more):
        recording = record(*options, "--", program, *words, **more)
        assert recording.status == 0
        return sorted(
            (trace.role, *(name for name in binary.named(trace.addresses())
                           if name in ("my_leaf", "my_worker")))
            for trace in recording.of(program) if len(trace.addresses()) > 1
            or "my_worker" in binary.named(trace.addresses())), recording.stderr

    return entered


def test_role_goes_to_children(entered):
    """A child has the role that its environment says, or that of its parent."""
    assert entered(["--role=browser"]) == ([
        ("browser",), ("browser", "my_leaf"), ("browser", "my_worker"), ("renderer", "my_leaf"),
    ], "")


def test_role_of_the_environment(entered):
    """Without --role the environment says it; with --role it does not."""
    environment = {**os.environ, "FRONTLOAD_ROLE": "shell"}
    assert entered([], env=environment)[0] == [
        ("renderer", "my_leaf"), ("shell",), ("shell", "my_leaf"), ("shell", "my_worker")]
    assert ("gpu",) in entered(["--role=gpu"], env=environment)[0]


def test_no_role(entered):
    """What nobody gave a role has none, also if the variable is empty."""
    assert {role for role, *_ in entered([], "")[0]} == {""}


@pytest.mark.parametrize("bad", ["two words", "a\nb", "x" * 32, "é", "\x1b[31m"])
def test_bad_role(record, program, entered, bad):
    """What cannot be a role is refused, or told and ignored in a child's environment."""
    refused = record(f"--role={bad}", "--", program)
    assert (refused.status, refused.files) == (2, [])
    assert refused.stderr.startswith("frontload-trace: error: --role: not a role, which is 1 to 31")
    found, stderr = entered(["--role=browser"], bad)
    assert {role for role, *_ in found} == {"browser"}
    assert stderr == ("frontload-trace: note: FRONTLOAD_ROLE: not a role, which is 1 to 31 "
                      "printable ASCII characters without spaces\n")
