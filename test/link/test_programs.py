"""Programs that use what a rearranged file could break run as before, linked in every way."""

import pytest
from linking import Image, compile_source, compile_text, front, is_linear, link, startup_names
from places import ALL
from whole import CXX, PROGRAMS

NAMES = ("plain.c", "exceptions.cpp", "tls.c", "ifunc.c", "constructors.cpp", "threads.cpp",
         "start_stop.c", "edges.c")

# How to compile and how to link.
MODES = {
    "pie": ("gcc", "-fPIE", "-pie"),
    "no-pie": ("clang", "-fno-pie", "-no-pie"),
    "static": ("gcc", "-fno-pie", "-static"),
    "static-pie": ("clang", "-fPIE", "-static-pie"),
    "gc-rela": ("gcc", "-fPIE", "-pie", "-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc",
                "-Wl,-z,nopack-relative-relocs"),
}


# Each program in two modes, each mode with three programs or more.
PAIRS = [(name, mode) for i, name in enumerate(NAMES) for j, mode in enumerate(MODES)
         if ALL or (i + j) % len(MODES) in (0, 2)]


@pytest.mark.parametrize(("name", "mode"), PAIRS)
def test_program_runs_as_before(tmp_path, run, name, mode):
    """The output is that of a plain link, the named functions lead in order, the others do not."""
    compiler, compile_flag, *flags = MODES[mode]
    source, plain = PROGRAMS / name, tmp_path / "plain"
    driver = CXX if source.suffix == ".cpp" else None
    objects = compile_source(tmp_path, source, compile_flag, compiler=compiler)
    link(plain, objects, *flags, driver=driver)
    names = startup_names(Image(plain))
    linked = front(tmp_path, objects, *flags, driver=driver, entries=names)
    assert run(linked.path).stdout == run(plain).stdout

    image = linked.image
    assert image.sections_of(*names) == {".text.front"} and image.is_ordered(*names)
    cold = [n for n, s in image.symbols.items() if "cold_" in n and "text" in s.section]
    assert image.sections_of(*cold) <= {".text"}
    parts = [".data.front", ".text", ".eh_frame", ".data", ".bss"]
    offsets = [image.sections[name]["sh_offset"] for name in parts if name in image.sections]
    assert offsets == sorted(offsets)
    assert is_linear(linked.path)
    header = image.sections.get(".eh_frame_hdr")
    assert header is None or header["sh_offset"] > image.sections[".text"]["sh_offset"]


@pytest.mark.parametrize(("compiler", "flag"), [("gcc", "-Wl,-z,now"), ("clang", "-Wl,-z,lazy")])
def test_exception_through_a_shared_library(tmp_path, run, compiler, flag):
    """A throw crosses a library with a front, into a program with a front."""
    library = compile_source(tmp_path, PROGRAMS / "library.cpp", "-fPIC", compiler=compiler)
    user = compile_source(tmp_path, PROGRAMS / "library_user.cpp", "-fPIE", compiler=compiler)
    so, path = f"-Wl,-rpath,{tmp_path}", tmp_path / "library.so"
    link(path, library, "-shared", driver=CXX)
    link(tmp_path / "plain", user, path, so, driver=CXX)
    expected = run(tmp_path / "plain").stdout
    with_front = front(tmp_path, library, "-shared", flag, driver=CXX, output="library.so",
                       entries=["hot_1_call"])
    program = front(tmp_path, user, path, "-pie", so, flag, driver=CXX,
                    entries=("_Z9hot_2_tryi", "main"))
    assert run(program.path).stdout == expected
    assert with_front.image.section_of("hot_1_call") == ".text.front"
    assert program.image.section_of("_Z9hot_2_tryi") == ".text.front"


def test_a_library_finds_the_end_of_the_program(tmp_path, run):
    """`_end` stays visible to shared libraries, as lld and GNU ld have it; some look it up."""
    library = compile_text(tmp_path, "library.c", "extern char _end[];\n"
                           "char *end_of_program(void) { return _end; }\n", "-fPIC")
    run("gcc", "-shared", library, "-o", tmp_path / "libend.so", "-fuse-ld=bfd")
    main = compile_text(tmp_path, "main.c", "extern char _end[]; char *end_of_program(void);\n"
                        "int main(void) { return _end != end_of_program(); }\n", "-fPIE")
    run(front(tmp_path, main, tmp_path / "libend.so", f"-Wl,-rpath,{tmp_path}", "-pie").path)


def test_a_program_may_define_its_own_end(tmp_path):
    """An assembler program's own `_end`, without a type, is none of ours to check."""
    front(tmp_path, compile_text(tmp_path, "a.s", ".globl main, _end\nmain: ret\n.size main, 1\n"
                                 '.type main,@function\n.section .data.foo,"aw"\n_end: .quad 1\n'))
