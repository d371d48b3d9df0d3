"""Programs that use what a rearranged file could break run as before, linked in every way."""

import pytest
from linking import (
    COMPILERS,
    LD_LLD,
    PROGRAMS,
    Image,
    check_run,
    compile_source,
    compile_text,
    is_linear,
    link,
    startup_names,
    write_profile,
)

NAMES = ("plain.c", "exceptions.cpp", "tls.c", "ifunc.c", "constructors.cpp", "threads.cpp",
         "start_stop.c", "edges.c")

# How to compile and how to link.
MODES = {
    "pie": (("-fPIE",), ("-pie",)),
    "no-pie": (("-fno-pie",), ("-no-pie",)),
    "static": (("-fno-pie",), ("-static",)),
    "static-pie": (("-fPIE",), ("-static-pie",)),
    "z-now": (("-fPIE",), ("-pie", "-Wl,-z,now")),
    "gc-rela": (("-fPIE",), ("-pie", "-Wl,--gc-sections", "-Wl,-z,nostart-stop-gc",
                             "-Wl,-z,nopack-relative-relocs")),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_program_runs_as_before(tmp_path, name, mode, compiler):
    """The output is that of a plain link, the named functions lead in order, the others do not."""
    compile_flags, link_flags = MODES[mode]
    source = PROGRAMS / name
    driver = COMPILERS["clang"][source.suffix == ".cpp"]
    objects = compile_source(tmp_path, source, *compile_flags, compiler=compiler)
    plain, front = tmp_path / "plain", tmp_path / "front"
    link(plain, objects, *link_flags, linker=LD_LLD, driver=driver)
    names = startup_names(Image(plain))
    link(front, objects, *link_flags, driver=driver, profile=write_profile(tmp_path, *names))

    assert check_run(front) == check_run(plain)

    image = Image(front)
    assert all(image.section_of(n) == ".text.front" for n in names)
    addresses = [image.symbols[n].address for n in names]
    assert addresses == sorted(addresses)
    cold = [n for n, s in image.symbols.items() if "cold_" in n and "text" in s.section]
    assert all(image.section_of(n) == ".text" for n in cold)
    parts = [".data.front", ".text.front", ".text", ".eh_frame", ".data", ".bss"]
    offsets = [image.sections[name]["sh_offset"] for name in parts if name in image.sections]
    assert offsets == sorted(offsets)
    assert is_linear(front)
    header = image.sections.get(".eh_frame_hdr")
    assert header is None or header["sh_offset"] > image.sections[".text"]["sh_offset"]


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("now", [False, True])
def test_exception_through_a_shared_library(tmp_path, compiler, now):
    """A throw crosses a library with a front, into a program with a front."""
    now_flags = ("-Wl,-z,now",) if now else ()
    driver = COMPILERS["clang"][1]
    library = compile_source(tmp_path, PROGRAMS / "library.cpp", "-fPIC", compiler=compiler)
    user = compile_source(tmp_path, PROGRAMS / "library_user.cpp", "-fPIE", compiler=compiler)
    outputs = []
    for kind, linker in (("plain", LD_LLD), ("front", None)):
        folder = tmp_path / kind
        folder.mkdir()
        # One profile for both: each link finds its part of it.
        flags = [*now_flags, *(() if linker else ("-Wl,--min-match=0",))]
        linker_choice = {"linker": linker} if linker else {
            "profile": write_profile(tmp_path, "hot_1_call", "_Z9hot_2_tryi", "main")}
        so = folder / "liblibrary.so"
        link(so, library, "-shared", *flags, driver=driver, **linker_choice)
        program = folder / "program"
        link(program, user, so, "-pie", f"-Wl,-rpath,{folder}", *flags, driver=driver,
             **linker_choice)
        outputs.append(check_run(program))
    assert outputs[0] == outputs[1]
    assert Image(tmp_path / "front" / "liblibrary.so").section_of("hot_1_call") == ".text.front"
    assert Image(tmp_path / "front" / "program").section_of("_Z9hot_2_tryi") == ".text.front"


def test_a_library_finds_the_end_of_the_program(tmp_path):
    """`_end` stays visible to shared libraries, as lld and GNU ld have it; some look it up."""
    library = tmp_path / "libend.so"
    source = tmp_path / "library.c"
    source.write_text("extern char _end[]; char *end_of_program(void) { return _end; }\n")
    check_run("gcc", "-shared", "-fPIC", source, "-o", library, "-fuse-ld=bfd")
    main = compile_text(tmp_path, "main.c", "#include <stdio.h>\nextern char _end[];\n"
                        "char *end_of_program(void);\n"
                        "int main(void) { return puts(_end == end_of_program() ? \"same\" : "
                        "\"another\") < 0; }\n", "-fPIE")
    link(tmp_path / "out", main, library, f"-Wl,-rpath,{tmp_path}", "-pie",
         profile=write_profile(tmp_path, "main"))
    assert check_run(tmp_path / "out") == "same\n"


def test_a_program_may_define_its_own_end(tmp_path):
    """An assembler program's own `_end`, without a type, is none of ours to check."""
    main = compile_text(tmp_path, "main.c", "int main(void) { return 0; }\n")
    end = compile_text(tmp_path, "end.s", '.globl _end\n.section .data.foo,"aw"\n_end: .quad 1\n',
                       compiler="clang")
    link(tmp_path / "out", main, end, profile=write_profile(tmp_path, "main"))
    check_run(tmp_path / "out")
