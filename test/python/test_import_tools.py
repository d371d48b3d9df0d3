"""frontload import of what the real tools write here and now; each test needs its tool."""

from pathlib import Path

import pytest
from abilities import needs
from frontload.profile import format as profile
from linking import Image

pytestmark = pytest.mark.usefixtures("tools")
DATA = Path(__file__).parent / "data"
CHAIN = ["main", "_Z5earlyl", "_Z4leafl", "_ZL4spinl", "_Z4latel"]


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


@needs("program:uftrace")
@pytest.mark.parametrize("flag", ["-pg", "-finstrument-functions"])
def test_uftrace(sample, imported, run, tmp_path, flag):
    app = sample("g++", "-fno-inline", flag)
    run("uftrace", "record", "-d", tmp_path / "data", app)
    found = {}
    for verb, options in (("dump", ["--demangle=no"]), ("dump", ["--demangle=full"]),
                          ("replay", ["--no-pager", "--demangle=no"])):
        text = run("uftrace", verb, *options, "-d", tmp_path / "data").stdout
        (tmp_path / "text").write_text(text)
        found[verb, options[-1]] = imported(tmp_path / "text", "--binary", app)
    read, names = found["dump", "--demangle=no"]
    assert names[:5] == CHAIN and "_ZNK3BoxIdE4areaEv" in names and "printf" not in names
    assert found["dump", "--demangle=full"] == (read, names)
    # It may have the other name of a constructor, and of functions whose code is the same.
    replayed = found["replay", "--demangle=no"][1]
    assert replayed[:5] == CHAIN and len(replayed) == len(names)
    assert read.runs == 1


@needs("hardware-breakpoints")
def test_perf(sample, imported, run, tmp_path):
    """Samples with chains name the functions that wait for others, the outer ones first."""
    app = sample("g++", "-no-pie", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls")
    # Once spin() has its frame: samples that depend on no clock.
    spin = Image(app).symbols["_ZL4spinl"].address + 4

    def recorded(demangle, *options):
        run("perf", "record", "-q", "-e", f"mem:{spin:#x}:x:u", *options, "-o", "data", app,
            cwd=tmp_path)
        text = run("perf", "script", demangle, "-F", "+pid", "-i", "data", cwd=tmp_path).stdout
        (tmp_path / "text").write_text(text)
        return imported(tmp_path / "text", "--binary", app)[1]

    assert recorded("--no-demangle", "-g") == recorded("--demangle", "-g") == CHAIN
    assert recorded("--no-demangle") == ["_ZL4spinl"]


def test_the_order_of_lld(imported, run, llvm, tmp_path):
    (tmp_path / "a.c").write_text("int f(void) { return 1; } int g(void) { return f(); }\n"
                                  "int main(void) { return g(); }\n")
    (tmp_path / "calls").write_text("main g 9\ng f 5\n")
    (tmp_path / "wanted").write_text("g\n")

    def link(*options) -> bool:
        (tmp_path / "order").unlink(missing_ok=True)
        run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", "-ffunction-sections", "a.c", "-o",
            "app", *options, f"-Wl,--print-symbol-order={tmp_path / 'order'}", cwd=tmp_path)
        return (tmp_path / "order").exists()

    assert not link("-Wl,--symbol-ordering-file=wanted")
    assert not link("-Wl,--call-graph-ordering-file=calls")
    assert link("-Wl,--call-graph-ordering-file=calls", "-Wl,--call-graph-profile-sort=hfsort")
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


@needs("valgrind")
@pytest.mark.parametrize("flag", ["-pie", "-static"])
def test_a_lackey_log_gives_what_a_recording_of_data_gives(sample, imported, cli, run, tmp_path,
                                                           flag):
    app = sample("g++", flag)
    log = tmp_path / "log"
    run("valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={log}", app)
    _, names = imported(log, "--binary", app)
    assert {*CHAIN, "_ZL5table", "counter"} <= set(names) and "_Z6unusedl" not in names
    cli("record", "--data", "-o", tmp_path / "traces", "--", app)
    cli("profile", tmp_path / "traces", "-o", tmp_path / "recorded.startup")
    own = {*(name.encode() for name in CHAIN), b"_ZL5table", b"counter", b"main"}
    recorded, read = ([(name, touch.touched if name.name in own else None)
                       for name, touch in profile.read(tmp_path / path).touches.items()]
                      for path in ("recorded.startup", "app.startup"))
    assert recorded == read
