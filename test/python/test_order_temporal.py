"""frontload order --linker llvm-profdata: what LLVM's orderer makes of it."""

import re

import pytest
from frontload.profile.startup_profile import Name
from small_programs import symbol_addresses

pytestmark = pytest.mark.usefixtures("tools")
ORDER = ["f3", "helper", "main", "f1", "f5"]
DATA = [Name("data", "data", b"pointer"), Name("data", "data", b"counter")]
BALANCED = "-Wl,--bp-startup-sort=function"


@pytest.fixture
def lld(run, llvm, tmp_path):
    """lld(profile, *objects): links; how many sections lld has ordered, and the addresses."""

    def lld(profile, *objects):
        result = run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", "-o", tmp_path / "again",
                     *objects, f"-Wl,--irpgo-profile={profile}", BALANCED,
                     "-Wl,--verbose-bp-section-orderer")
        assert "warning" not in result.stdout + result.stderr
        ordered = re.search(r"Functions for startup: (\d+)", result.stdout + result.stderr)
        return int(ordered[1]), symbol_addresses(run, llvm, tmp_path / "again")

    return lld


def show(run, llvm, path):
    """The traces that llvm-profdata reads, as (weight, names)."""
    text = run(llvm / "llvm-profdata", "show", "--temporal-profile-traces", path).stdout
    found = re.findall(r"Trace \d+ \(weight=(\d+) count=\d+\):\n((?:    .*\n)*)", text)
    return [(int(weight), names.split()) for weight, names in found]


def test_lld_orders_by_it(link, startup, cli, lld, run, llvm, tmp_path):
    """lld puts what the trace names, functions and data, in front of all else."""
    program = link()
    names = [ORDER[0], Name("function", "text", b"helper", b"app.c"), *ORDER[2:], *DATA]
    cli("order", startup(*names), "--linker", "llvm-profdata", "--binary", program.path,
        "-o", tmp_path / "app.proftext")
    run(llvm / "llvm-profdata", "merge", "app.proftext", "-o", "app.profdata", cwd=tmp_path)
    assert show(run, llvm, tmp_path / "app.profdata") == [
        (1, ["f3", "app.c;helper", "main", "f1", "f5", "pointer", "counter"])]
    functions = [name for name in program.addresses if re.fullmatch(r"f\d|helper|main|last", name)]

    def in_front(addresses):
        return set(sorted(functions, key=addresses.get)[:len(ORDER)])

    assert in_front(program.addresses) != set(ORDER)
    for profile in ("app.proftext", "app.profdata"):
        ordered, addresses = lld(tmp_path / profile, tmp_path / "app.o")
        assert in_front(addresses) == set(ORDER) and ordered == len(ORDER) + len(DATA)


CLASS = """
extern "C" int main();
struct Base { __attribute__((noinline)) Base(); int x; };
Base::Base() : x(1) {}
int main() { Base base; return base.x - 1; }
"""


@pytest.mark.parametrize("where", ["--binary", "--objects", None])
def test_aliases_are_written_too(startup, cli, lld, run, llvm, compile, tmp_path, where):
    """lld knows a constructor as C1 or C2, whichever stands first in the symbol table."""
    compile(CLASS, "app.o", "-ffunction-sections", "-fPIC", language="c++")
    run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", "app.o", "-o", "app", cwd=tmp_path)
    options = {"--binary": ["--binary", tmp_path / "app"], None: [],
               "--objects": ["--objects", tmp_path / "app.o"]}[where]
    ordered = []
    for name in ("_ZN4BaseC1Ev", "_ZN4BaseC2Ev"):
        result = cli("order", startup(name), "--linker", "llvm-profdata", *options,
                     "-o", tmp_path / "app.proftext")
        assert ("one of its names" in result.err) == (where is None)
        ordered.append(lld(tmp_path / "app.proftext", tmp_path / "app.o")[0])
    assert sorted(ordered) == ([0, 1] if where is None else [1, 1])


def test_each_profile_is_a_trace(startup, cli, run, llvm, tmp_path):
    """A linker that takes one order gets that of all, as `frontload profile` merges them."""
    one = startup("main", "a", "z", file="one.startup")
    other = startup("main", "b", "c", file="other.startup")
    cli("order", one, other, "--linker", "llvm-profdata", "-o", tmp_path / "app.proftext")
    assert show(run, llvm, tmp_path / "app.proftext") == [(1, ["main", "a", "z"]),
                                                          (1, ["main", "b", "c"])]
    assert cli("order", other, one, "--linker", "lld").out.split() == ["main", "a", "b", "c", "z"]


def test_names_that_llvm_would_misread_are_left_out(startup, cli, run, llvm, tmp_path):
    """Separators, comments, headers and numbers: the rest of the profile is read as it was."""
    odd = ["a,b", "a;b", "#a", ":ir", "$1", "77", " a", "a\nb"]
    result = cli("order", startup("first", *odd, "last"), "--linker", "llvm-profdata",
                 "-o", tmp_path / "app.proftext")
    assert f"{len(odd)} names left out, which LLVM cannot read" in result.err
    assert show(run, llvm, tmp_path / "app.proftext") == [(1, ["first", "last"])]


def test_long_traces_come_with_the_option_that_keeps_them(startup, cli, run, llvm, tmp_path):
    """llvm-profdata cuts them at 10,000 names, unless it is told what the note says."""
    names = [f"f{number}" for number in range(10_003)]
    result = cli("order", startup(*names), "--linker", "llvm-profdata",
                 "-o", tmp_path / "app.proftext")
    option = re.search(r"--temporal-profile-max-trace-length=\d+", result.err)[0]
    run(llvm / "llvm-profdata", "merge", option, "app.proftext", "-o", "app.profdata", cwd=tmp_path)
    assert len(show(run, llvm, tmp_path / "app.profdata")[0][1]) == 10_003
