"""Fixtures of the tests of the Python package: the command in this process, and small programs."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import compile_to
from frontload.cli import main as command_line
from frontload.profile import format as profile
from frontload.profile.startup_profile import Name, from_run
from ordered_program import build_program  # noqa: F401 (a fixture)
from small_programs import SOURCE, symbol_addresses
from split_program import build_app, startup_of  # noqa: F401 (fixtures)
from trace_writer import TraceWriter, build_id


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys):
    """cli(*args, code=0): runs the frontload command in this process, checks its exit code (with
    None, any)."""

    def cli(*args, code=0) -> Result:
        capsys.readouterr()
        try:
            status = command_line.main([str(arg) for arg in args])
        except SystemExit as exit:
            status = exit.code
        result = Result(status, *capsys.readouterr())
        assert code is None or status == code, (
            f"{args}: exit {status}, expected {code}\n{result.out}{result.err}")
        return result

    return cli


@pytest.fixture
def auto(cli):
    """auto(*args): runs `frontload auto --json` and returns what it says."""
    def auto(*args, **options):
        result = cli("auto", "--json=-", *args, **options)
        assert result.out, result.err
        return json.loads(result.out) | {"stderr": result.err}
    return auto


@pytest.fixture
def tools(monkeypatch, build):
    """The command finds Frontload's programs, as its launcher tells it to."""
    monkeypatch.setenv("FRONTLOAD_BINDIR", str(build / "bin"))


@pytest.fixture
def launch(build, run, tmp_path):
    """launch(*options, command=[...], code=0): the line of frontload-exec (None if there is none);
    `launch.result` is what the program said."""
    output = tmp_path / "line.json"

    def launch(*options, command, code=0, **more):
        launch.result = run(build / "bin/frontload-exec", f"--output={output}", *options, "--",
                            *command, code=code, **more)
        text = output.read_text() if output.exists() else ""
        return json.loads(text) if text else None

    return launch


@pytest.fixture
def startup(tmp_path):
    """startup(*names, file="app.startup"): a startup profile of one run over these functions (or
    Names)."""

    def startup(*names, file="app.startup"):
        touched = [name if isinstance(name, Name) else Name("function", "text", name.encode())
                   for name in names]
        path = tmp_path / file
        path.write_bytes(profile.to_bytes(from_run(b"app", touched)))
        return path

    return startup


@pytest.fixture
def compile(tmp_path, llvm, run):
    """compile(source, file, *flags): an object, by clang."""

    def compile(source, file, *flags, language="c") -> Path:
        run(llvm / "clang", "-O1", "-ffreestanding", "-x", language, "-c", "-", "-o", file, *flags,
            cwd=tmp_path, input=source)
        return tmp_path / file

    return compile


@dataclass
class Program:
    """A linked program and the addresses of its symbols."""

    path: Path
    addresses: dict[str, int]

    @property
    def build_id(self) -> bytes:
        return build_id(self.path)

    def trace(self, to: Path, *names: str | int, **header) -> Path:
        """Writes a trace of this program: the functions (or addresses) that it touched."""
        writer = TraceWriter().module(1, str(self.path), self.build_id)
        for name in names:
            writer.event(name if isinstance(name, int) else self.addresses[name])
        return writer.write(to, **header)


@pytest.fixture
def link(tmp_path, llvm, run):
    """link(*options, source=SOURCE, name="app"): compiles and links a program, with clang, lld."""

    def link(*options, source=SOURCE, name="app", flags=()) -> Program:
        path = tmp_path / name
        text, made = f"{path.name}.c", f"{path.name}.o"
        compile_to(path.parent / made, llvm / "clang", "-O1", "-ffunction-sections",
                   "-fdata-sections", *flags, "-c", text, sources={text: source})
        result = run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", "-Wl,--build-id=sha1",
                     made, "-o", path, *options, cwd=path.parent)
        assert result.stdout == "" and "warning" not in result.stderr
        return Program(path, symbol_addresses(run, llvm, path))

    return link
