"""frontload order --linker ld64: ld64.lld takes the file and orders by it, for both machines."""

import re

import pytest
from frontload.profile.startup_profile import Name
from small_programs import FREESTANDING, symbol_addresses

pytestmark = pytest.mark.usefixtures("tools")
FUNCTIONS = ["_start", "_f4", "_helper", "_f3", "_f1"]  # and not _f2, which comes last
DATA = ["_other", "_counter"]
NAMES = [*(name[1:] for name in FUNCTIONS),
         *(Name("data", "data", name[1:].encode()) for name in DATA)]


@pytest.fixture
def link(run, llvm, tmp_path):
    """link(*inputs_and_options, machine): the addresses of a library that ld64.lld makes."""

    def link(*arguments, machine="arm64"):
        result = run(llvm / "ld64.lld", "-arch", machine, "-platform_version", "macos", "12", "12",
                     "-dylib", "-undefined", "dynamic_lookup", *arguments,
                     "-o", tmp_path / "app.dylib", "-map", tmp_path / "app.map")
        assert result.stdout == result.stderr == ""
        return symbol_addresses(run, llvm, tmp_path / "app.dylib")

    return link


def function(name, file):
    return Name("function", "text", name.encode(), file.encode())


@pytest.mark.parametrize("machine", ["x86_64", "arm64"])
def test_ld64_orders_by_the_file(startup, compile, cli, link, tmp_path, machine):
    """Functions and data come in first-touch order on both machines."""
    program = compile(FREESTANDING, "app.o", f"--target={machine}-apple-macos12")
    default = link(program, machine=machine)
    assert sorted(FUNCTIONS, key=default.get) != FUNCTIONS
    assert sorted(DATA, key=default.get) != DATA
    for looked_up in ([], ["--objects", program]):
        cli("order", startup(*NAMES), "--linker", "ld64", "-o", tmp_path / "app.order", *looked_up)
        addresses = link(program, "-order_file", tmp_path / "app.order", machine=machine)
        assert sorted(FUNCTIONS, key=addresses.get) == FUNCTIONS
        assert sorted(DATA, key=addresses.get) == DATA
        assert max(addresses[name] for name in FUNCTIONS) < addresses["_f2"]


def local(name):
    """A source with a static function `init` and another one that calls it."""
    return (f"static __attribute__((noinline)) int init(int x) {{ return x + __LINE__; }}\n"
            f"int {name}(int x) {{ return init(x); }}")


@pytest.mark.parametrize("objects", [["a.o", "b.o"], ["lib.a"]])
@pytest.mark.parametrize("looked_up", [True, False])
def test_local_names_have_their_object(startup, compile, cli, run, llvm, link, tmp_path, objects,
                                       looked_up):
    """Same-named static functions are told apart by their objects, also in an archive."""
    for name in ("a", "b"):
        compile(local(name), f"{name}.o", "--target=arm64-apple-macos12")
    run(llvm / "llvm-ar", "rcs", "--format=darwin", "lib.a", "a.o", "b.o", cwd=tmp_path)
    own = [name if objects == ["a.o", "b.o"] else f"lib.a({name})" for name in ("a.o", "b.o")]
    path = startup("a", function("init", own[1]), "b", function("init", own[0]))
    paths = [tmp_path / name for name in objects]
    cli("order", path, "--linker", "ld64", "-o", tmp_path / "app.order",
        *(["--objects", *paths] if looked_up else []))
    assert (tmp_path / "app.order").read_text().split() == [
        "_a", f"{own[1]}:_init", "_b", f"{own[0]}:_init"]
    link("-all_load", *paths, "-order_file", tmp_path / "app.order")
    text = (tmp_path / "app.map").read_text()
    files = {number: file.rpartition("/")[2]
             for number, file in re.findall(r"^\[ *(\d+)\] (.+)$", text, re.M)}
    assert [f"{files[number]}:{name}" for number, name in
            re.findall(r"^0x\w+\s+0x\w+\s+\[ *(\d+)\] (_\w+)$", text, re.M)] == [
        f"{own[0]}:_a", f"{own[1]}:_init", f"{own[1]}:_b", f"{own[0]}:_init"]


def test_sources_tell_local_names_apart(startup, compile, cli, tmp_path):
    """A profile that was made without a map has source files: the object is one of such a name."""
    for file in ("a.o", "b.c.o"):
        compile(local(file[0]), file, "--target=x86_64-apple-macos12")
    where = "--objects", tmp_path / "a.o", tmp_path / "b.c.o"
    path = startup(function("init", "b.c"), function("init", "a.c"))
    result = cli("order", path, "--linker", "ld64", *where)
    assert result.out.split() == ["b.c.o:_init", "a.o:_init"]
    result = cli("order", startup(function("init", "c.c")), "--linker", "ld64", *where)
    assert result.out.split() == ["a.o:_init", "b.c.o:_init"]


def test_names_of_other_languages(startup, compile, cli, tmp_path):
    """C++ gets the underscore that every name does, a method of Objective-C none."""
    objc = compile("@interface F\n@end\n@implementation F\n-(int)f:(int)x { return x; }\n@end",
                   "objc.o", "--target=arm64-apple-macos12", "-w", language="objective-c")
    cpp = compile("namespace n { int f(int x) { return x; } }", "cpp.o",
                  "--target=arm64-apple-macos12", language="c++")
    path = startup("_ZN1n1fEi", "-[F f:]", "gone")
    result = cli("order", path, "--linker", "ld64.lld")
    assert result.out.splitlines() == ["__ZN1n1fEi", "-[F f:]", "_gone"]
    result = cli("order", path, "--linker", "ld64.lld", "--min-match", 60, "--objects", objc, cpp)
    assert result.out.splitlines() == ["__ZN1n1fEi", "objc.o:-[F f:]"]
    assert "2 of 3 names found (66.66%)" in result.err and "gone" in result.err


def test_names_that_cannot_be_written_are_left_out(startup, cli):
    """What ld64 would misread is counted: comments, white space, what looks like an object."""
    result = cli("order", startup("f g", "a#b", "f ", "a\nb", "a.o:b", "f@@V2"), "--linker", "ld64")
    assert result.out == "_f g\n_f\n" and "4 names left out, which ld64 cannot read" in result.err
