"""Kernels and containers that hide or forbid something: the recording works, or is refused with a
sentence."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from abilities import NOBODY, needs
from places import SANITIZED

AS_NOBODY = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"


@pytest.fixture
def folder():
    """Where others may read and write."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        yield Path(name)


@pytest.fixture
def confined(tracer, compile, run, folder):
    """confined(how, before, prefix, code): records in new namespaces, once a shell ran `before`."""
    program = shutil.copy(compile("order.c"), folder)

    def confined(how, before, prefix="", code=0):
        script = f'{before} && {prefix} "$@"'
        return run("unshare", *how, "sh", "-c", script, "sh", tracer, "-o", folder / "t", "--",
                   program, code=code)

    return confined


@pytest.mark.parametrize(("how", "before", "said", "remedy"), [
    pytest.param(["-m"], "umount -l /proc", "cannot be used: No such file or directory",
                 "mount -t proc", id="none", marks=[needs("mounts"), pytest.mark.skipif(
                     SANITIZED, reason="a sanitizer needs /proc")]),
    pytest.param(["-p", "-f"], "true", "belongs to another process namespace", "--mount-proc",
                 id="of others", marks=needs("pid-namespace"))])
def test_useless_proc(how, before, said, remedy, confined):
    """Without a /proc that has the processes by their numbers, nothing is started."""
    result = confined(how, before, code=125)
    error, note = result.stderr.splitlines()
    assert error == f"frontload-trace: error: /proc: {said}"
    assert remedy in note and result.stdout == ""


@needs("mounts", "another-user")
@pytest.mark.parametrize("option", ["hidepid=2", "hidepid=ptraceable"])
def test_hidden_processes(option, confined, folder):
    """A /proc that hides the processes of others does not hide the user's own."""
    result = confined(["-m"], f"mount -t proc -o {option} proc /proc", AS_NOBODY, code=3)
    assert (result.stdout, result.stderr) == ("done\n", "")
    assert (folder / "t").exists()
