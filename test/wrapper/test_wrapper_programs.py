"""frontload-cc before real compilers: record, profile, use."""

import shutil
import subprocess

import pytest
from abilities import need, needs
from linking import LLVM, Image, check_run, profile_text
from places import ALL

SOURCE = """#include <stdio.h>
int cold(int x) { return x + 2; }
int hot(int x) { return x + 1; }
int main(int argc, char **argv) { return printf("hi\\n") == argc ? cold(argc) : hot(-1); }
"""
CLANG = str(LLVM / "clang")
MODES = ("--mode=record", "--profile-dir=startup")
OTHERS = [pytest.param(name, marks=needs(f"program:{name}"))
          for name in ("cc", "gcc-12", "clang-14", "clang-16", "clang-19")]


@pytest.fixture
def program(build, tmp_path):
    (tmp_path / "app.c").write_text(SOURCE)
    (tmp_path / "startup").mkdir()
    (tmp_path / "startup" / "app.startup").write_text(profile_text("hot", "main"))

    def run(mode: str, *words):
        result = subprocess.run([build / "bin" / "frontload-cc", *mode.split(), *words],
                                cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 0, result.stderr
        return result.stderr

    return run


@pytest.mark.parametrize("compiler", ["gcc", CLANG, *(OTHERS if ALL else [])])
@pytest.mark.parametrize("flag", ["-pie", "-static", "-static-pie", "-no-pie"])
def test_record_and_use(tmp_path, program, compiler, flag):
    """The same objects serve both; the map knows their sections, and the profile moves them."""
    objects = []
    for mode in MODES:
        assert program(mode, compiler, "-fPIE", "-c", "app.c", "-o", "app.o") == ""
        objects.append((tmp_path / "app.o").read_bytes())
        said = program(mode, compiler, flag, "-Wl,--front-always", "app.o", "-o", "app")
        check_run(tmp_path / "app")
        assert ("2 of 2 names found" in said) == ("dir" in mode)
    assert objects[0] == objects[1]
    assert "app.o:(.text.hot)" in (tmp_path / "app.map").read_text()
    assert Image(tmp_path / "app").section_of("hot") == ".text.front"


@pytest.mark.parametrize("compiler", ["gcc", CLANG])
def test_libraries_and_objects(tmp_path, program, compiler):
    """A library has a profile of its own, without its version; ld -r is not disturbed."""
    (tmp_path / "startup" / "libx.so.startup").write_text(profile_text("hot"))
    program(MODES[1], compiler, "-fPIC", "-c", "app.c", "-o", "x.o")
    program(MODES[1], compiler, "-r", "-nostdlib", "x.o", "-o", "app")
    program(MODES[1], compiler, "-shared", "x.o", "-o", "libx.so.1.2")
    assert Image(tmp_path / "libx.so.1.2").section_of("hot") == ".text.front"


def test_a_version_script_may_name_what_is_not_there(tmp_path, program):
    """GNU ld takes it, and so many builds have such scripts."""
    (tmp_path / "x.map").write_text("X_1 { global: hot; missing; local: *; };\n")
    for mode in MODES:
        program(mode, "gcc", "-shared", "-fPIC", "-Wl,--version-script=x.map", "app.c",
                "-o", "x.so")


def test_no_warnings(tmp_path, program):
    """Whatever a call does: a build may have -Werror."""
    (tmp_path / "x.h").write_text("int x;\n")
    for words in ("-c app.c", "x.h", "-emit-ast app.c", "-S app.c", "app.o", "app.c -o tool",
                  "-E app.c", "-x assembler -c app.s", "-fsyntax-only app.c"):
        for mode in MODES:
            assert program(mode, CLANG, "-Werror", "-Wall", *words.split()) == ""


# What each linker is given, and for gcc's -flto its own.
PACKED, SYMBOLS, SECTIONS = ("packed relative relocations", "an order of symbols",
                             "an order of sections")
BY_OTHERS = {"-fuse-ld=bfd": [PACKED], "-fuse-ld=gold": [SECTIONS], "-fuse-ld=mold": [],
             "-flto": [PACKED],
             "--own-linker": [PACKED], f"--ld-path={LLVM / 'ld.lld'}": [SYMBOLS, PACKED]}


@pytest.mark.parametrize("flag", BY_OTHERS)
def test_the_linker_of_the_build(tmp_path, program, build, flag):
    """It does what it can, and the program asks for what a start touches. The link says which. The
    same link gives the same bytes, and leaves no temporary file."""
    if flag == "-fuse-ld=mold":
        need("program:mold")
    if flag == "-fuse-ld=gold" and not (build / "lib/frontload-gold.so").exists():
        pytest.skip("Frontload is built without the plugin for gold")
    expected = BY_OTHERS[flag]
    compiler, temporary = CLANG if "path" in flag else "gcc", tmp_path / "temporary"
    temporary.mkdir()
    option, flag = (flag, "-pie") if flag == "--own-linker" else ("--prefetch", flag)
    words = ("env", f"TMPDIR={temporary}", build / "bin/frontload-cc", MODES[1], "--prefetch",
             option, compiler, "-O0", "app.c", flag, f"-Wl,-rpath,{build / 'lib'}", "-o", "app")
    contents = []
    for _ in range(2):
        said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True,
                              check=True).stderr
        contents.append((tmp_path / "app").read_bytes())
    assert all(f"{what}, " in said for what in [*expected, "a note"]), said
    assert "libfrontload-prefetch.so" in said and "app: asks for" in said
    assert contents[0] == contents[1] and not any(temporary.iterdir())
    check_run(tmp_path / "app")
    image = Image(tmp_path / "app")
    text = {name: image.symbols[name].address for name in ("hot", "main", "cold")}
    between = range(*sorted([text["hot"], text["main"]]))
    assert "order" not in said or text["cold"] not in between


@needs("program:musl-gcc")
@pytest.mark.parametrize("linker", ["--prefetch", "--own-linker"])
def test_a_program_of_musl(tmp_path, program, linker):
    """musl starts nothing with an IFUNC, and may not know packed relocations: with each linker, the
    program runs, and has the code that asks for its front inside."""
    said = program(MODES[1], "--prefetch", linker, "musl-gcc", "-O0", "app.c", "-o", "app")
    assert PACKED not in said
    check_run(tmp_path / "app")
    assert "frontload_prefetch_before_main" in Image(tmp_path / "app").symbols


def test_another_linker_without_names_or_ranges(tmp_path, program, build):
    """A stale profile fails the link, as it does with a front, and leaves no output. Whatever else
    keeps the ranges out does not."""
    link = (build / "bin/frontload-cc", "--profile=startup/app.startup", "gcc", "app.c",
            "-fuse-ld=bfd", "-o", "app")
    check_run(*link, "-s", cwd=tmp_path)
    check_run(tmp_path / "app")
    (tmp_path / "startup/app.startup").write_text(profile_text("hat", "main", "mine"))
    result = subprocess.run(link, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1 and "1 of 3 names found" in result.stderr
    assert not (tmp_path / "app").exists()
    result = subprocess.run([*link, "missing.o"], cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 1 and "missing.o" in result.stderr


def test_a_signal_reaches_the_compiler(tmp_path, program, build):
    """Also where frontload-cc waits for a link, to fill in its note."""
    started, compiler = tmp_path / "started", tmp_path / "gcc"
    compiler.write_text(f"""#!/bin/sh
case $* in *-print-file-name*|*-Wl,--version*) exec {shutil.which('gcc')} "$@" ;; esac
trap 'exit 7' TERM
echo > {started}
left=6000
while [ $((left -= 1)) -gt 0 ]; do sleep 0.01; done
""")
    compiler.chmod(0o755)
    link = subprocess.Popen([build / "bin/frontload-cc", "--profile=startup/app.startup",
                             "--own-linker", compiler, "app.c", "-o", "app"], cwd=tmp_path)
    while not started.exists():
        assert link.poll() is None
    link.terminate()
    assert link.wait() == 7


def test_a_user_s_orders_come_first(tmp_path, program):
    """The build's own flags are behind ours."""
    program("--mode=record", "gcc", "-fno-function-sections", "-c", "app.c")
    assert ".text.hot" not in check_run("readelf", "-SW", tmp_path / "app.o")


def test_where_it_is_installed(tmp_path, program, build):
    """/usr/local/bin/frontload-cc may be a link into a prefix anywhere; alone in a folder it says
    where it belongs, if there is something to link."""
    linked, alone = tmp_path / "linked", tmp_path / "bin" / "frontload-cc"
    linked.symlink_to(build / "bin" / "frontload-cc")
    check_run(linked, "--mode=record", "gcc", "app.c", "-o", "app", cwd=tmp_path)
    assert (tmp_path / "app.map").exists()
    alone.parent.mkdir()
    shutil.copy(linked, alone)
    result = subprocess.run([alone, "--mode=record", "gcc", "a.o"], capture_output=True, text=True)
    assert result.returncode == 2 and "lib/frontload/gcc/ld.lld" in result.stderr
    check_run(alone, "--mode=record", "gcc", "--version")


@pytest.mark.parametrize(("kind", "given"), [
    ("", ["app.o", "empty.o"]), *((kind, given.split()) for kind in ("rcs", "rcsT") for given in (
        "lib/liball.a", "-Llib -lall", "-Wl,-L,lib,-Bstatic -lall -Wl,-Bdynamic",
        "-L none -l:liball.a -Llib"))])
def test_objects_of_gcc_s_link_time_optimization(tmp_path, program, kind, given):
    """A Makefile may say -flto in CFLAGS alone; gcc asks its plugin. Objects with code
    besides are linked as others are."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "empty.c").write_text("")
    for flags, note in ((["-flto"], "-flto, which needs another linker"),
                        (["-flto", "-ffat-lto-objects"], "")):
        program("--mode=record", "gcc", *flags, "-c", "app.c", "empty.c")
        if kind:
            (tmp_path / "lib/liball.a").unlink(missing_ok=True)
            check_run("gcc-ar", kind, "lib/liball.a", "empty.o", "app.o", cwd=tmp_path)
        said = program("--mode=record", "gcc", *given, "-o", "app")
        assert note in said and bool(note) == bool(said)
        assert (tmp_path / "app.map").exists() == (not note)
        check_run(tmp_path / "app")
