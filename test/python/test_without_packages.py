"""With pyelftools alone, as `pip install frontload` leaves it, most verbs do the same work; the
others name what they need."""

import sys

import pytest
from abilities import needs
from frontload.base import packages
from frontload.base.errors import Failure
from small_programs import SOURCE
from trace_writer import CODE, DATA, TraceWriter

LARGE = ("numpy", "scipy", "rich", "pydantic")
LACKING = f"""
import sys
sys.modules.update(dict.fromkeys({LARGE}))
from frontload.cli.main import main
sys.exit(main())
"""
pytestmark = [pytest.mark.usefixtures("tools"), needs("built:bin/ld.frontload")]


@pytest.fixture
def lacking(run, tmp_path):
    """lacking(*args, code=0): runs the command without the large packages."""
    def lacking(*args, code=0):
        return run(sys.executable, "-c", LACKING, *args, code=code, cwd=tmp_path)

    return lacking


@pytest.fixture
def same(run, lacking, tmp_path):
    """same(*args, code=0): what a verb prints without the large packages, which must be what it
    prints with them but for blanks at the ends of lines."""
    def same(*args, code=0):
        said = lacking(*args, code=code)
        usual = run(sys.executable, "-m", "frontload", *args, code=code, cwd=tmp_path)
        for one, other in ((said.stdout, usual.stdout), (said.stderr, usual.stderr)):
            assert one.splitlines() == list(map(str.rstrip, other.splitlines()))
        return said.stdout

    return same


@pytest.fixture
def traces(link, tmp_path):
    """Traces of two runs of the usual program, with functions, parts of functions, and data."""
    program = link("-Wl,--emit-relocs")
    (tmp_path / "traces").mkdir()
    for run, functions in ((1, ("main", "f1", "f2", "helper")), (2, ("main", "last", "f5"))):
        writer = TraceWriter().module(1, str(program.path), program.build_id)
        for name in functions:
            writer.event(program.addresses[name] + run, kind=CODE)
        for name in ("table", "counter", "pointer", "zeros"):
            writer.event(program.addresses[name], kind=DATA)
        writer.event(16, kind=DATA)  # of no name
        writer.write(tmp_path / "traces" / f"{run}.fltrace", run=run, pid=run, minor=4)
    return program


def test_from_traces_to_a_checked_front(traces, same, link, build, tmp_path):
    """profile, check, order, files, predict and info say the same."""
    profile = same("profile", "traces")
    assert "f1" in profile and "zeros" in profile
    (tmp_path / "app.startup").write_text(profile)
    link(f"--ld-path={build / 'bin/ld.frontload'}", "-Wl,--startup-profile=app.startup",
         "-Wl,--front-always", f"-Wl,--front-report={tmp_path / 'report'}", name="front",
         source=SOURCE)
    same("check", "front", "--profile", "app.startup", "--front-report", "report", "--json=-")
    assert "in front" in same("check", "front", "--profile", "app.startup")
    same("check", "app", "--profile", "app.startup", code=1)
    for linker in ("lld", "gold", "bolt", "llvm-profdata"):
        assert same("order", "app.startup", "--linker", linker, "--binary", "app")
    same("files", "app.startup", "--binary", "app", "-o", "-")
    same("predict", "--variant", "before=app", "--variant", "after=front", "traces")
    same("info", "app.startup")
    same("info", "traces", "--json=-")
    same("info", "--all", "traces/1.fltrace", "--json=-")


@needs("ptrace")
def test_recording(link, lacking, tmp_path):
    """record and init work, and info of this machine."""
    link()
    lacking("record", "-o", "traces", "--", "./app")
    assert "f1" in lacking("profile", "traces").stdout
    lacking("info")
    assert "Traceback" not in lacking("init", code=None).stderr


@pytest.mark.parametrize("args", [["measure", "--", "true"], ["report", "x.json", "-o", "x.html"]])
def test_what_is_missing_is_named(lacking, args):
    """Before any work, and as a command for the environment that lacks it."""
    said = lacking(*args, code=2).stderr
    assert "has no Python packages numpy, " in said and " install " in said


@pytest.mark.parametrize(("prefix", "has_pip", "remedy"), [
    ("pipx", True, "pipx inject frontload pyelftools numpy"),
    ("venv", True, f"{sys.executable} -m pip install pyelftools numpy"),
    ("venv", False, f"uv pip install --python {sys.executable} pyelftools numpy"),
    (None, True, "on Debian: apt-get install python3-numpy python3-pydantic; elsewhere: pip ")])
def test_the_remedy_is_for_this_environment(monkeypatch, tmp_path, prefix, has_pip, remedy):
    (tmp_path / "pipx").mkdir()
    (tmp_path / "pipx/pipx_metadata.json").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / prefix) if prefix else sys.base_prefix)
    monkeypatch.setattr("importlib.util.find_spec",
                        lambda name: (name == "pip" and has_pip) or None)
    with pytest.raises(Failure) as raised:
        packages.require("report")
    assert remedy in raised.value.note
