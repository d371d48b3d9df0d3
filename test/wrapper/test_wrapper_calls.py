"""What frontload-cc adds to a call of a compiler, and that most calls are none of its business."""

import os
import threading

import pytest
from places import PYTHON_OF_SCRIPTS

SECTIONS = ["-ffunction-sections", "-fdata-sections"]
RECORD = "--mode=record"


# Of calls of a compiler, what frontload-cc adds to them.
CALLS = {
    # An unused flag is a warning of clang's, which is an error with -Werror.
    "nothing": [
        "-E a.c", "-M a.c", "-MM a.c", "-S a.c -o a.s", "-c -E a.c", "-fsyntax-only a.c",
        "-c a.s", "-c a.S", "-c -x assembler-with-cpp a.c",
        "--version", "-v", "-dumpmachine", "-dumpversion", "-print-prog-name=ld",
        "--print-search-dirs", "-print-file-name=libc.so", "-### a.c", "--help", "--help=common",
        "--analyze a.c", "-cc1 -emit-obj a.c", "-emit-ast a.c", "-rewrite-objc a.m", "",
        # values that look like something else
        "-E -o -c a.c", "-S -include a.h -MF -o a.c",
        # there is nothing to lay out
        "-r a.o -o all.o", "-Wl,-r a.o", "-Wl,--relocatable a.o -o all.o"],
    "sections": [
        "-c a.cpp -o a.o", "-O2 -MD -MF a.d -c a.c", "-c -x c -", "-xc++ -c a.h", "-c a.s b.c",
        "-x assembler a.s -x none -c b.c", "-emit-llvm -c a.c", "-c a.f90", "a.h",
        "-x c++-header stdafx.txt", "--compile a.c", "--precompile a.cppm -o a.pcm", "-c a.pcm",
        "-fmodule-header=user a.h"],
    "linker": [
        "a.o -o app", "a.o -oapp", "a.o --output app", "a.o --output=app", "-o app a.o -lfoo",
        "-shared -o app a.o", "-static -o app a.o", "-static-pie -o app a.o",
        "-nostdlib a.o -o app", "-o app libx.a", "-o app -lx", "-Wl,-soname,x.so a.o -o app",
        "-x none a.o -o app", "-o other a.o -o app", "-v a.o -o app", "-fuse-ld=lld a.o -o app",
        "a.o -o app -flto -fno-lto"],
    "sections and linker": ["a.c b.o -o app"],
    # What a build system tries out is linked by the linker that the build will get, and leaves no
    # map behind; the profile of a program is not for it.
    "linker only": [
        "a.o -o /dev/null", "-o cmTC_0a1b2 CMakeFiles/cmTC_0a1b2.dir/a.c.o", "-Wl,--version"],
    "sections and linker only": [
        "conftest.c", "-o conftest -O2 conftest.c -lm", "sanitycheckc.c -o sanitycheckc.exe",
        "/x/testfile.c -o /x/output.exe",
        "-o /tmp/go-link-12/a.out -no-pie /tmp/go-link-12/trivial.c"],
}


@pytest.mark.parametrize(("kind", "call"), [(kind, call) for kind in CALLS for call in CALLS[kind]])
def test_what_is_added(wrapper, linker_flags, kind, call):
    """The same sections in both modes, so that a change of mode compiles nothing anew. A link goes
    through ld.frontload; with a map, or with profiles. What the build says comes last."""
    words = ["clang" if kind == "nothing" else "gcc", *call.split()]
    added = SECTIONS if "sections" in kind else []
    if "linker" in kind:  # a build that names lld has lld's defaults
        added = [*added, *linker_flags[:2 if "-fuse-ld" in call else None]]
    for option, flag in ((RECORD, "-Map=app.map"), ("--profile=a b", "--startup-profile=a b"),
                         ("--profile-dir=d,e", "--startup-profile-dir=d,e")):
        if "only" in kind and "dir" in option:
            option = "--mode=use"  # without a profile
        last = ["-Xlinker", flag] if kind.endswith("linker") else []
        assert wrapper.words(option, *words) == [words[0], *added, *last, *words[1:]]
    assert "-fdata-sections" not in wrapper.added("--no-section-flags", RECORD, *words)


def test_what_go_tries_out_in_its_own_folder(wrapper, linker_flags):
    """Older versions name no folder."""
    wrapper.folder /= "go-link-12"
    wrapper.folder.mkdir()
    assert wrapper.added(RECORD, "gcc", "-no-pie", "trivial.c") == [*SECTIONS, *linker_flags]


@pytest.mark.parametrize("words", ["gcc trivial.c -o trivial", "gcc trivial.c -o a.out",
                                   "gcc testfile.c -o testfile", "gcc testfile.cpp -o app"])
def test_programs_of_people_are_not_tried_out(wrapper, words):
    """By these names alone nobody can tell."""
    words = words.split()
    assert wrapper.added(RECORD, *words)[-1] == f"-Map={words[-1]}.map"
    assert wrapper.added("--profile=p", *words)[-1] == "--startup-profile=p"


def test_options_of_the_front(wrapper):
    """They go to links with a profile, and to nothing else."""
    options = ["--profile=p", "--prefetch", "--min-match=50.5"]
    words = wrapper.words(*options, "gcc", "a.o")
    assert words[5:-1] == ["-Xlinker", "--startup-profile=p", "-Xlinker", "--front-prefetch",
                           "-Xlinker", "--min-match=50.5"]
    assert wrapper.words(*options, "gcc", "-c", "a.c") == ["gcc", *SECTIONS, "-c", "a.c"]
    assert "--front-prefetch" not in wrapper.words(RECORD, "--prefetch", "gcc", "a.o")


@pytest.mark.parametrize("flag", ["-Wl,-Map=mine", "-Wl,-Map,mine", "-Wl,--Map=mine",
                                  "-Wl,--print-map", "-Wl,-O1,-M"])
def test_a_map_of_the_build_s_own_is_enough(wrapper, linker_flags, flag):
    assert wrapper.added(RECORD, "gcc", flag, "a.o") == linker_flags


def test_a_file_that_is_no_map_stays(wrapper, linker_flags):
    """A build may have a file of that name, such as a version script."""
    words = ["gcc", "-shared", "a.o", "-o", "lib.so"]
    note = "frontload-cc: note: lib.so.map: is not a link map, so it is left alone"
    (wrapper.folder / "lib.so.map").write_text("{ global: *; };\n")
    assert wrapper.added(RECORD, *words, note=note) == linker_flags
    (wrapper.folder / "lib.so.map").write_text("             VMA              LMA     Size Align\n")
    assert "-Map=lib.so.map" in wrapper.added(RECORD, *words)


def test_only_files_get_a_map(wrapper, linker_flags):
    """Beside a device or a pipe is no place for one."""
    os.mkfifo(wrapper.folder / "pipe")
    for output in ("/dev/stdout", "/dev/fd/1", "/dev/none", "pipe"):
        assert wrapper.added(RECORD, "gcc", "a.o", "-o", output) == linker_flags
    (wrapper.folder / "app").write_text("")
    assert "-Map=app.map" in wrapper.added(RECORD, "gcc", "a.o", "-o", "app")


def test_response_files_are_read_and_stay(wrapper, linker_flags):
    """Also one that is in another, and one with quotes."""
    (wrapper.folder / "inner").write_text("-o 'my app'\n")
    (wrapper.folder / "args").write_text("a.o \"b c.o\" @inner\n")
    assert wrapper.words(RECORD, "gcc", "@args") == [
        "gcc", *linker_flags, "-Xlinker", "-Map=my app.map", "@args"]
    (wrapper.folder / "args").write_text("-c a.c\n")
    assert wrapper.added(RECORD, "gcc", "@args") == SECTIONS
    # Not there: the compiler takes it for a file of that name, and complains.
    assert wrapper.added(RECORD, "gcc", "@none")
    # The compiler would find a pipe empty.
    pipe = wrapper.folder / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=("-c a.c\n",), daemon=True).start()
    assert wrapper.words(RECORD, "gcc", "@pipe") == ["gcc", *SECTIONS, "-c", "a.c"]


@pytest.mark.parametrize("name", [
    "gcc-12", "g++", "x86_64-linux-gnu-gcc", "aarch64-linux-gnu-g++-12", "clang", "clang++-3.9",
    "aarch64-linux-gnu-clang++", "cc", "c++", "c99", "musl-gcc", "mpicxx", "gfortran", "f77",
    "tools/gcc", "riscv64-unknown-elf-gcc-13.2.0",
])
def test_names_of_compilers(wrapper, linker_flags, name):
    """With a target, a version, a path."""
    program = wrapper.fake(name)
    name = str(program) if "/" in name else name
    assert wrapper.words(RECORD, name, "-c", "a.c")[1:] == [*SECTIONS, "-c", "a.c"]
    assert wrapper.words(RECORD, name, "a.o")[1:3] == linker_flags[:2]


@pytest.mark.parametrize("name", ["tcc", "gcc-ar", "clang-tidy", "rustc", "ld", "zig cc", "c++filt",
                                  "clang-cl", "nvcc -ccbin gcc"])
def test_what_is_no_compiler_is_not_changed(wrapper, name):
    """It is run as it is, with one note where a link is lost."""
    words = name.split()
    wrapper.fake(words[0])
    assert wrapper.added(RECORD, *words, "-c", "a.c") == []
    note = f"app: is linked without Frontload: {words[0]} is not a compiler"
    assert wrapper.added(RECORD, *words, "a.o", "-o", "app", note=note) == []


@pytest.mark.parametrize("launcher", ["ccache", "sccache", "distcc", "env", "env A=b",
                                      "my-launcher", "ccache distcc"])
def test_other_launchers_stand_before_the_compiler(wrapper, launcher):
    """What is added goes behind the compiler."""
    first = launcher.split()[0]
    wrapper.fake(first)
    assert wrapper.words(RECORD, *launcher.split(), "gcc", "-c", "a.c") == [
        first, *launcher.split()[1:], "gcc", *SECTIONS, "-c", "a.c"]


def test_a_launcher_twice_is_as_good_as_once(wrapper):
    """A build system may put it before what has it already."""
    words = wrapper.words(RECORD, str(wrapper.program), "gcc", "-c", "a.c", FRONTLOAD="record")
    assert words == ["gcc", *SECTIONS, *SECTIONS, "-c", "a.c"]


@pytest.mark.parametrize("first", ["-m64", "@args", "/tmp/symbols.o", "libx.rlib", "-c"])
def test_callers_that_can_name_one_program(wrapper, linker_flags, first):
    """rustc and Go's linker call it alone: the compiler is cc, or another that is named."""
    (wrapper.folder / "args").write_text("-m64 a.o -o app\n")
    words = [first, *([] if first == "@args" else ["a.o", "-o", "app"])]
    assert wrapper.words(RECORD, *words)[0] == "cc"
    added = wrapper.words(RECORD, *words, FRONTLOAD_CC="env X=y clang")
    assert added[:1] == ["clang"] and added[-len(words):] == words
    assert first == "-c" or added[1:3] == linker_flags[:2]


def test_rustc_s_own_lld_is_no_other_linker(wrapper, linker_flags):
    """It asks for lld by a folder of its own, as frontload-cc does: ours has to come first."""
    folder = wrapper.fake("gcc-ld/ld.lld").parent
    words = wrapper.words(RECORD, "cc", "a.o", "-fuse-ld=lld", f"-B{folder}", "-o", "app")
    assert words[1:3] == linker_flags[:2]


def test_it_does_not_run_itself_without_end(wrapper):
    note = "is frontload-cc itself"
    itself = wrapper.folder / "itself"  # in a path without a space, which would end the word
    itself.symlink_to(wrapper.program)
    (wrapper.bin / "gcc-99").symlink_to(wrapper.program)
    for words, variables in ((["gcc-99", "-c", "a.c"], {}), ([itself, "-c", "a.c"], {}),
                             (["-c", "a.c"], {"FRONTLOAD_CC": str(itself)}),
                             (["-c", "a.c"], {"FRONTLOAD_CC": f"{itself} --mode=off"}),
                             (["-c", "a.c"], {"FRONTLOAD_CC": "gcc-99"})):
        assert note in wrapper.run(*words, code=127, **variables).stderr


@pytest.mark.parametrize("path", ["", ":/no/folder", "/no/folder::/no/other"])
def test_the_current_folder_in_path(wrapper, path):
    """An empty name in PATH is the current folder: frontload-cc does not find itself there without
    end, but the compiler that is there."""
    itself = wrapper.folder / "gcc-98"
    itself.symlink_to(wrapper.program)
    words = ("gcc-98", "-c", "a.c")
    assert "is frontload-cc itself" in wrapper.run(*words, code=127, PATH=path).stderr
    itself.unlink()
    wrapper.fake("./gcc-98", f"#!{PYTHON_OF_SCRIPTS}\nprint('the compiler')\n")
    assert wrapper.words(*words, PATH=path) == ["the compiler"]


def test_there_is_no_path(wrapper):
    """Then a compiler is looked for in the folders in which libc looks for it."""
    del wrapper.environment["PATH"]
    assert "Free Software Foundation" in wrapper.run("gcc", "--version").stdout


@pytest.mark.parametrize("contents", [b"\x7fELF, damaged\necho run", b"a\0b\necho run"])
def test_a_damaged_compiler_is_not_a_script(wrapper, contents):
    """No shell reads it; a script without a first line that says so is read."""
    wrapper.fake("gcc").write_bytes(contents)
    result = wrapper.run("gcc", "-c", "a.c", code=126)
    assert result.stdout == ""
    assert result.stderr.startswith("frontload-cc: error: gcc: Exec format error\n")
    wrapper.fake("gcc", "echo the compiler\n")
    assert wrapper.words("gcc", "-c", "a.c") == ["the compiler"]
