"""frontload import of what the real tools write here and now; each test needs its tool."""

import shutil
from pathlib import Path

import pytest
from frontload.profile import format as profile

pytestmark = pytest.mark.usefixtures("tools")
DATA = Path(__file__).parent / "data"
CHAIN = ["main", "_Z5earlyl", "_Z4leafl", "_ZL4spinl", "_Z4latel"]


def tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.skip(f"{name} is not installed")
    return path


@pytest.fixture
def sample(run, tmp_path):
    """sample(compiler, *flags): the sample program, built; its path."""

    def sample(compiler, *flags) -> Path:
        run(compiler, "-O1", *flags, DATA / "sample.cpp", "-o", "app", cwd=tmp_path)
        return tmp_path / "app"

    return sample


@pytest.fixture
def imported(cli, tmp_path):
    """imported(*arguments): the profile, and its functions in order."""

    def imported(*arguments):
        cli("import", *arguments, "-o", tmp_path / "app.startup")
        read = profile.read(tmp_path / "app.startup")
        return read, [name.name.decode() for name, _ in read.in_order()]

    return imported


@pytest.mark.parametrize("flag", ["-pg", "-finstrument-functions"])
def test_uftrace(sample, imported, run, tmp_path, flag):
    """A dump and a replay have all that is entered, in order; names for people do a dump no harm,
    because it has addresses."""
    uftrace = tool("uftrace")
    app = sample("g++", "-fno-inline", flag)
    run(uftrace, "record", "-d", tmp_path / "data", app)
    found = {}
    for verb, options in (("dump", ["--demangle=no"]), ("dump", ["--demangle=simple"]),
                          ("dump", ["--demangle=full"]),
                          ("replay", ["--no-pager", "--demangle=no"])):
        text = run(uftrace, verb, *options, "-d", tmp_path / "data").stdout
        (tmp_path / "text").write_text(text)
        found[verb, options[-1]] = imported(tmp_path / "text", "--binary", app)
    read, names = found["dump", "--demangle=no"]
    assert names[:5] == CHAIN and "_ZNK3BoxIdE4areaEv" in names and "printf" not in names
    assert found["dump", "--demangle=simple"] == found["dump", "--demangle=full"] == (read, names)
    # It may have the other name of a constructor, and of functions whose code is the same.
    replayed = found["replay", "--demangle=no"][1]
    assert replayed[:5] == CHAIN and len(replayed) == len(names)
    assert read.runs == 1


def perf(run, tmp_path, app, *options, check) -> tuple[Path, Path]:
    """Records the sample program, and writes the text with symbols, and with names for people;
    skips where the kernel does not let it."""
    result = run(tool("perf"), "record", "-q", *options, "-o", "perf.data", app, "30000000",
                 code=None, cwd=tmp_path)
    if result.returncode != 0:
        pytest.skip(f"perf cannot record here: {result.stderr.strip()[:200]}")
    for option in ("--no-demangle", "--demangle"):
        text = run(tool("perf"), "script", option, "-F", "+pid", "-i", "perf.data",
                   cwd=tmp_path).stdout
        if option == "--no-demangle" and check not in text:
            pytest.skip("perf has no sample of the program: the clock is too coarse here")
        (tmp_path / option).write_text(text)
    return tmp_path / "--no-demangle", tmp_path / "--demangle"


def test_perf_callchains(sample, imported, run, tmp_path):
    """Samples with chains name the functions that wait for others, the outer ones first."""
    app = sample("g++", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    symbols, readable = perf(run, tmp_path, app, "-e", "cpu-clock:u", "-F", "500", "-g",
                             check="_Z5earlyl+")
    _, names = imported(symbols, "--binary", app)
    assert names[:4] == CHAIN[:4]
    assert imported(readable, "--binary", app)[1] == names


def test_perf_samples(sample, imported, run, tmp_path):
    """Without chains it is what runs longest."""
    app = sample("g++")
    symbols, _ = perf(run, tmp_path, app, "-e", "cpu-clock:u", "-F", "500", check="_ZL4spinl+")
    _, names = imported(symbols, "--binary", app)
    assert "_ZL4spinl" in names and "_Z6unusedl" not in names


def test_the_order_of_lld(imported, run, llvm, tmp_path):
    """lld writes it where the document says, and only there."""
    (tmp_path / "a.c").write_text("int f(void) { return 1; } int g(void) { return f(); }\n"
                                  "int main(void) { return g(); }\n")
    (tmp_path / "calls").write_text("main g 9\ng f 5\n")
    (tmp_path / "wanted").write_text("g\n")
    document = (Path(__file__).parents[2] / "docs" / "import.md").read_text()
    written = "--call-graph-profile-sort=hfsort --print-symbol-order=FILE"
    assert written in document

    def link(*options) -> bool:
        (tmp_path / "order").unlink(missing_ok=True)
        run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", "-ffunction-sections", "a.c", "-o",
            "app", *options, f"-Wl,--print-symbol-order={tmp_path / 'order'}", cwd=tmp_path)
        return (tmp_path / "order").exists()

    assert not link("-Wl,--symbol-ordering-file=wanted")
    assert not link("-Wl,--call-graph-ordering-file=calls")
    assert link("-Wl,--call-graph-ordering-file=calls", "-Wl," + written.split()[0])
    read, names = imported(tmp_path / "order", "--binary", tmp_path / "app")
    assert names == ["main", "g", "f"] and read.runs == 1


def test_llvm_temporal_profiles(sample, imported, run, llvm, tmp_path):
    """Raw, indexed, and both kinds of text say the same; two runs are two runs."""
    app = sample(llvm / "clang++", "-fprofile-generate", "-mllvm",
                 "-pgo-temporal-instrumentation")
    for number in ("1", "2"):
        run(app, number, env={"LLVM_PROFILE_FILE": str(tmp_path / f"{number}.profraw")})
    profdata = llvm / "llvm-profdata"
    run(profdata, "merge", "1.profraw", "2.profraw", "-o", "all.profdata", cwd=tmp_path)
    run(profdata, "merge", "--text", "all.profdata", "-o", "all.txt", cwd=tmp_path)
    (tmp_path / "show").write_text(run(profdata, "show", "--temporal-profile-traces",
                                       "all.profdata", cwd=tmp_path).stdout)
    inputs = [["1.profraw", "2.profraw"], ["all.profdata"], ["all.txt"], ["show"]]
    found = [imported(*(tmp_path / name for name in names), "--binary", app) for names in inputs]
    assert all(each == found[0] for each in found)
    read, names = found[0]
    assert names[:5] == CHAIN and read.runs == 2


def test_an_llvm_profile_without_traces_is_refused(sample, cli, run, llvm, tmp_path):
    """-fprofile-generate alone counts, and has no order; the note says what is missing."""
    app = sample(llvm / "clang++", "-fprofile-generate")
    run(app, env={"LLVM_PROFILE_FILE": str(tmp_path / "app.profraw")})
    said = cli("import", tmp_path / "app.profraw", "--binary", app, code=65).err
    assert "it has no temporal traces" in said and "-pgo-temporal-instrumentation" in said


@pytest.mark.parametrize("flags", [("-pie",), ("-no-pie",), ("-static",)], ids=lambda each: each[0])
def test_a_lackey_log_gives_what_a_recording_of_data_gives(sample, imported, cli, run, frontload,
                                                           tmp_path, flags):
    """The profile that frontload record --data leads to. How many bytes the C library touches
    depends on where its arguments lie, and so on the environment."""
    valgrind = tool("valgrind")
    app = sample("g++", *flags)
    log = tmp_path / "log"
    run(valgrind, "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", app)
    _, names = imported(log, "--binary", app)
    assert {*CHAIN, "_ZL5table", "counter"} <= set(names) and "_Z6unusedl" not in names
    frontload("record", "--data", "-o", tmp_path / "traces", "--", app)
    cli("profile", tmp_path / "traces", "-o", tmp_path / "recorded.startup")
    own = {*(name.encode() for name in CHAIN), b"_ZL5table", b"counter", b"main"}
    recorded, read = ([(name, touch.touched if name.name in own else None)
                       for name, touch in profile.read(tmp_path / path).touches.items()]
                      for path in ("recorded.startup", "app.startup"))
    assert recorded == read
