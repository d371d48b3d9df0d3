"""frontload-cc before real compilers: record, profile, use."""

import os
import shutil
import subprocess

import pytest
from linking import LLVM, Image, check_run, profile_text

SOURCE = """#include <stdio.h>
int cold(int x) { return x + 2; }
int hot(int x) { return x + 1; }
int main(int argc, char **argv) { return printf("hi\\n") == argc ? cold(argc) : hot(-1); }
"""
CLANGS = sorted({shutil.which(name) or "" for name in ("clang-14", "clang-16", "clang-19")} - {""})
COMPILERS = ["gcc", "cc", "gcc-12", str(LLVM / "clang"), *CLANGS]


@pytest.fixture
def program(build, tmp_path):
    (tmp_path / "app.c").write_text(SOURCE)
    (tmp_path / "startup").mkdir()
    (tmp_path / "startup" / "app.startup").write_text(profile_text("hot", "main"))

    def run(mode: str, *words):
        result = subprocess.run([build / "bin" / "frontload-cc", *mode.split(), *words],
                                cwd=tmp_path, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return result.stderr

    return run


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("flag", ["-pie", "-static", "-static-pie", "-no-pie"])
def test_record_and_use(tmp_path, program, compiler, flag):
    """The same objects serve both; the map knows their sections, and the profile moves them."""
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    objects = []
    for mode in ("--mode=record", "--profile-dir=startup"):
        assert program(mode, compiler, "-fPIE", "-c", "app.c", "-o", "app.o") == ""
        objects.append((tmp_path / "app.o").read_bytes())
        said = program(mode, compiler, flag, "-Wl,--front-always", "app.o", "-o", "app")
        check_run(tmp_path / "app")
        assert ("2 of 2 names found" in said) == ("dir" in mode)
    assert objects[0] == objects[1]
    assert "app.o:(.text.hot)" in (tmp_path / "app.map").read_text()
    assert Image(tmp_path / "app").section_of("hot") == ".text.front"


@pytest.mark.parametrize("compiler", ["gcc", str(LLVM / "clang")])
def test_libraries_and_objects(tmp_path, program, compiler):
    """A library has a profile of its own, without its version; ld -r is not disturbed."""
    (tmp_path / "startup" / "libx.so.startup").write_text(profile_text("hot"))
    program("--profile-dir=startup", compiler, "-fPIC", "-c", "app.c", "-o", "x.o")
    program("--profile-dir=startup", compiler, "-r", "-nostdlib", "x.o", "-o", "app")
    program("--profile-dir=startup", compiler, "-shared", "x.o", "-o", "libx.so.1.2")
    assert Image(tmp_path / "libx.so.1.2").section_of("hot") == ".text.front"


def test_no_warnings(tmp_path, program):
    """Whatever a call does: a build may have -Werror."""
    clang = str(LLVM / "clang")
    (tmp_path / "x.h").write_text("int x;\n")
    for words in ("-c app.c", "x.h", "-emit-ast app.c", "-S app.c", "app.o", "app.c -o tool",
                  "-E app.c", "-x assembler -c app.s", "-fsyntax-only app.c"):
        for mode in ("--mode=record", "--profile-dir=startup"):
            assert program(mode, clang, "-Werror", "-Wall", *words.split()) == ""


@pytest.mark.parametrize("generator, by", [("Ninja", "launcher"),
                                           ("Unix Makefiles", "environment")])
def test_before_cmake_s_compiler(tmp_path, program, build, generator, by):
    """As a launcher of compiler and linker, or as the first word of the compiler."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(app C)\nadd_executable(app app.c)\n")
    words = [build / "bin" / "frontload-cc", f"--profile-dir={tmp_path / 'startup'}"]
    names = ["-DCMAKE_C_COMPILER_LAUNCHER", "-DCMAKE_C_LINKER_LAUNCHER"]
    launcher = [f"{name}={';'.join(map(str, words))}" for name in names if by == "launcher"]
    compiler = "gcc" if by == "launcher" else " ".join(map(str, [*words, "gcc"]))
    check_run("cmake", "-G", generator, "-S", tmp_path, "-B", tmp_path / "out", *launcher,
              env=os.environ | {"CC": compiler})
    check_run("cmake", "--build", tmp_path / "out")
    assert Image(tmp_path / "out" / "app").section_of("hot") == ".text.front"
    assert list((tmp_path / "out").rglob("*.map")) == []


def test_a_user_s_orders_come_first(tmp_path, program):
    """The build's own flags are behind ours."""
    program("--mode=record", "gcc", "-fno-function-sections", "-c", "app.c")
    assert ".text.hot" not in check_run("readelf", "-SW", tmp_path / "app.o")


def test_cross_compilers(tmp_path, program):
    """They find ld.frontload, which links for all of lld's targets."""
    source = "int hot(void) { return 0; }\nint main(void) { return hot(); }\n"
    (tmp_path / "app.c").write_text(source)
    program("--profile-dir=startup", str(LLVM / "clang"), "--target=aarch64-linux-gnu", "-nostdlib",
            "-static", "-Wl,-e,main,--front-always", "app.c", "-o", "app")
    assert Image(tmp_path / "app").section_of("hot") == ".text.front"
    assert "AArch64" in check_run("readelf", "-h", tmp_path / "app")


def test_a_prefix_may_be_linked_to(tmp_path, program, build):
    """/usr/local/bin/frontload-cc may be a link into a prefix anywhere."""
    link = tmp_path / "frontload-cc"
    link.symlink_to(build / "bin" / "frontload-cc")
    check_run(link, "--mode=record", "gcc", "app.c", "-o", "app", cwd=tmp_path)
    assert (tmp_path / "app.map").exists()


def test_alone_in_a_folder_it_says_where_it_belongs(tmp_path, build):
    alone = tmp_path / "bin" / "frontload-cc"
    alone.parent.mkdir()
    shutil.copy(build / "bin" / "frontload-cc", alone)
    result = subprocess.run([alone, "--mode=record", "gcc", "a.o"], capture_output=True, text=True,
                            timeout=120)
    assert result.returncode == 2 and "lib/frontload/gcc/ld.lld" in result.stderr
    assert subprocess.run([alone, "--mode=record", "gcc", "--version"], capture_output=True,
                          timeout=120).returncode == 0


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no gcc")
@pytest.mark.parametrize("archive", [False, True])
def test_objects_of_gcc_s_link_time_optimization(tmp_path, program, archive):
    """A Makefile may say -flto in CFLAGS alone; gcc asks its plugin. Objects with code
    besides are linked as others are."""
    (tmp_path / "empty.c").write_text("")
    for flags, note in ((["-flto"], "-flto, which needs another linker"),
                        (["-flto", "-ffat-lto-objects"], "")):
        for source in ("app", "empty"):
            program("--mode=record", "gcc", *flags, "-c", f"{source}.c", "-o", f"{source}.o")
        inputs = ["app.o", "empty.o"]
        if archive:
            (tmp_path / "liball.a").unlink(missing_ok=True)
            subprocess.run(["gcc-ar", "rcs", "liball.a", *reversed(inputs)], cwd=tmp_path,
                           check=True)
            inputs = ["liball.a"]
        said = program("--mode=record", "gcc", *inputs, "-o", "app")
        assert note in said and bool(note) == bool(said)
        assert (tmp_path / "app.map").exists() == (not note)
        check_run(tmp_path / "app")
