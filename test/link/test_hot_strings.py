"""Merged strings: those of startup come first, and the program reads what it always read."""

import pytest
from linking import (
    COMPILERS,
    LD_LLD,
    Entry,
    Image,
    check_run,
    compile_source,
    compile_text,
    ld,
    link,
    measured,
    report_of,
    with_begun_strings,
    write_profile,
)
from whole import PROGRAMS

NUL = b"\0"
CREL = ("-Wa,--crel,--allow-experimental-crel",)


def contents_of(name: str) -> list[bytes]:
    """The strings of one byte per character that `name` in strings.c reads, it alone."""
    begin = name.encode()
    return [begin + b" short", begin + b" of a table", begin + b" \xc3\xa4\xff\x80",
            begin + b"0123456789" * 1000]


def string(text: str) -> Entry:
    return Entry("string", "rodata", text)


class Linked:
    """strings.c, linked with a front."""

    def __init__(self, folder, profile, *flags, compiler="gcc", compile_flags=()):
        source = compile_source(folder, PROGRAMS / "strings.c", *compile_flags, compiler=compiler)
        self.path, report = folder / "out", folder / "report.json"
        link(self.path, source, *flags, f"-Wl,--front-report={report}", profile=profile)
        link(folder / "plain", source, *flags, linker=LD_LLD)
        self.content = with_begun_strings(self.path)
        self.plain = folder / "plain"
        self.report = report_of(report)

    def offsets(self, contents: list[bytes]) -> list[int]:
        """Where in the file the strings are; each is there once, and not as an end of others."""
        for text in contents:
            assert self.content.count(NUL + text + NUL) == 1, text[:40]
        return [self.content.index(NUL + text + NUL) + 1 for text in contents]

    def check_runs(self) -> None:
        assert check_run(self.path) == check_run(self.plain)


def escaped(text: bytes) -> str:
    """As in a profile."""
    return "".join(chr(b) if 32 <= b < 127 else f"\\x{b:02x}" for b in text)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_recorded_strings_end_the_front(tmp_path, compiler):
    """Those of the profile, whoever refers to them: with high bytes, of 10 kB, and shared ones."""
    recorded = [*contents_of("hot"), b"shared by readers"]
    made = Linked(tmp_path, write_profile(
        tmp_path, measured("hot"), measured("main"), *(string(escaped(t)) for t in recorded)),
        compiler=compiler)
    made.check_runs()
    assert all(o < made.report.end for o in made.offsets(recorded))
    assert all(o >= made.report.end for o in made.offsets(contents_of("cold")))
    # And nothing else: from the beginning of the section to the end of the front.
    start = Image(made.path).sections[".rodata.strings"]["sh_offset"]
    hot = made.content[start:made.report.end].split(NUL)[:-1]
    # gcc aligns longer ones, which are in another section then.
    limit = 31 if compiler == "gcc" else 100000
    assert sorted(hot) == sorted([b"", *(t for t in recorded if len(t) < limit)])
    assert not made.report.missing


@pytest.mark.parametrize("compiler", COMPILERS)
def test_strings_by_reference_end_the_front(tmp_path, compiler):
    """Without a record, those that startup functions, and their tables, refer to."""
    made = Linked(tmp_path, write_profile(tmp_path, "hot", "main"), compiler=compiler)
    made.check_runs()
    assert all(o < made.report.end for o in made.offsets(contents_of("hot")))
    assert all(o >= made.report.end for o in made.offsets(contents_of("cold")))


def test_strings_of_the_kernel_are_hot_although_nobody_records_them(tmp_path):
    """What open() is given is read by the kernel; a path is hot by reference."""
    o = compile_text(tmp_path, "a.c", """
        #include <fcntl.h>
        int main(void) { return open("/dev/null", 0) < 0 || open("never seen", 0) >= 0; }
    """)
    report = tmp_path / "report.json"
    link(tmp_path / "out", o, f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, measured("main"), string("gone")))
    content = (tmp_path / "out").read_bytes()
    assert content.index(b"/dev/null\0") < report_of(report).end
    assert content.index(b"never seen\0") >= report_of(report).end
    assert report_of(report).missing == {"gone"}


def test_strings_that_are_not_gathered_are_in_the_front(tmp_path):
    """Long ones, which gcc aligns to 8 bytes, and wide ones: with those of the same section."""
    made = Linked(tmp_path, write_profile(tmp_path, "hot", "main"))
    made.check_runs()
    for text, encoding in ((" long, of more than", "ascii"), (" wide", "utf-32-le")):
        hot, cold = (made.content.index((name + text).encode(encoding)) for name in ("hot", "cold"))
        assert hot < made.report.end <= cold


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("level", ["-O0", "-O2", "-O,2"])
def test_other_ways_to_merge(tmp_path, compiler, level):
    """Not at all, or with common ends: the strings of startup's objects are in the front."""
    made = Linked(tmp_path, write_profile(tmp_path, "hot", "main"), f"-Wl,{level}",
                  compiler=compiler)
    made.check_runs()
    assert ".rodata.strings" not in Image(made.path).sections
    assert all(made.content.index(text) < made.report.end for text in contents_of("hot"))


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("compile_flags, flags", [
    (["-fno-merge-constants"], []), (["-fmerge-all-constants"], []),
    (["-fno-function-sections", "-fno-data-sections"], []), (["-fPIC"], ["-pie"]),
    (["-ffunction-sections"], ["-Wl,--icf=all"]), ([], ["-Wl,--gc-sections"]),
    ([], ["-Wl,--emit-relocs"]), ([], ["-static"]), (["-O3"], []),
    ([], ["-Wl,--sort-section=alignment"]), ([], ["-Wl,-z,keep-text-section-prefix"])],
    ids=lambda flags: " ".join(flags))
def test_other_ways_to_compile_and_link(tmp_path, compiler, compile_flags, flags):
    """The program's output is that of a plain link."""
    made = Linked(tmp_path, write_profile(tmp_path, "hot", "main"), *flags, compiler=compiler,
                  compile_flags=compile_flags)
    made.check_runs()
    for text in contents_of("hot"):
        assert made.content.index(text) < made.report.end


def test_a_partial_link_first(tmp_path):
    """An object that ld -r has made has its strings merged already."""
    o = compile_source(tmp_path, PROGRAMS / "strings.c")
    check_run(LD_LLD, "-r", o, "-o", tmp_path / "partial.o")
    report = tmp_path / "report.json"
    link(tmp_path / "out", tmp_path / "partial.o", f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, "hot", "main"))
    link(tmp_path / "plain", o, linker=LD_LLD)
    assert check_run(tmp_path / "out") == check_run(tmp_path / "plain")
    content = (tmp_path / "out").read_bytes()
    assert content.index(b"\0hot short\0") < report_of(report).end


def test_unused_strings_are_dropped(tmp_path):
    """With --gc-sections a string that only unused code refers to is gone, hot or not."""
    o = compile_text(tmp_path, "a.c", """
        #include <stdio.h>
        void dead(void) { puts("dead string"); }
        int main(void) { puts("live string"); return 0; }
    """)
    link(tmp_path / "out", o, "-Wl,--gc-sections",
         profile=write_profile(tmp_path, "main", string("dead string"), string("live string")))
    content = (tmp_path / "out").read_bytes()
    assert b"live string" in content and b"dead string" not in content


def test_the_number_of_threads_does_not_show(tmp_path):
    """The strings of many objects, hot and cold: the same bytes by one thread and by eight."""
    objects = []
    for i in range(20):
        puts = [f'puts("string {j * (1 if j % 3 else i)}");' for j in range(60)]
        objects.append(compile_text(tmp_path, f"f{i}.c", f"""
            #include <stdio.h>
            void hot{i}(void) {{ {"".join(puts[:30])} }}
            void cold{i}(void) {{ {"".join(puts[30:])} }}
        """))
    objects.append(compile_text(tmp_path, "main.c", "int main(void) { return 0; }"))
    outputs = []
    for threads in (1, 8, 8):
        link(tmp_path / "out", *objects, f"-Wl,--threads={threads}",
             profile=write_profile(tmp_path, "main", *(f"hot{i}" for i in range(20))))
        outputs.append((tmp_path / "out").read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("kind", ['"a",@progbits', '"aMS",@progbits,2'])
def test_sections_that_are_only_named_like_strings(tmp_path, kind):
    """Not merged, or of wide characters: they are linked, and left as they are."""
    odd = compile_text(tmp_path, "odd.s", f"""
        .section .rodata.str1.1,{kind}
        .globl odd
        odd: .ascii "odd1odd2"
        .byte 0,0
        .section .note.GNU-stack,"",@progbits
    """, compiler="clang")
    main = compile_text(tmp_path, "main.c", """
        #include <stdio.h>
        extern const char odd[];
        int main(void) { puts("hot string"); puts(odd); return 0; }
    """)
    report = tmp_path / "report.json"
    link(tmp_path / "out", odd, main, f"-Wl,--front-report={report}",
         profile=write_profile(tmp_path, "main"))
    assert check_run(tmp_path / "out") == "hot string\nodd1odd2\n"




# i386, 32-bit ARM and MIPS have addends in the bytes that are relocated, and 64-bit MIPS of little
# endian has a layout of its own for relocations.
TARGETS = {"i386": (), "i386 -fPIC": ("-fPIC",), "i386 CREL": CREL, "armv7": (), "armebv7": (),
           "thumbv7": (), "mips": (), "mipsel": (), "mips64": (), "mips64el": (), "riscv64": (),
           "aarch64": (), "x86_64 CREL": CREL}


@pytest.mark.parametrize("target", TARGETS)
def test_strings_of_any_target_are_found_by_reference(tmp_path, target):
    """Those that code and tables refer to, by a label or by their place in the section."""
    o = compile_text(tmp_path, "a.c", """
        const char *volatile sink;
        const char *const *volatile tables;
        static const char *const hot_table[] = {"hot, the first", "hot, the second"};
        static const char *const cold_table[] = {"cold, the first", "cold, the second"};
        __attribute__((noinline)) void cold(void) { sink = "cold alone"; tables = cold_table; }
        __attribute__((noinline)) void hot(void) { sink = "hot alone"; tables = hot_table; }
        void __start(void) { hot(); cold(); }
    """, f"--target={target.split()[0]}-linux-gnu", "-ffreestanding", "-fno-pic", "-Wno-everything",
                     *TARGETS[target], compiler="clang")
    report = tmp_path / "report.json"
    ld(o, "-o", tmp_path / "out", "-e", "__start", f"--front-report={report}",
       f"--startup-profile={write_profile(tmp_path, '__start', 'hot')}")
    content = (tmp_path / "out").read_bytes()
    for text in (b"alone", b"the first", b"the second"):
        words = b" " if text == b"alone" else b", "
        assert content.index(b"hot" + words + text + NUL) < report_of(report).end, text
        assert content.index(b"cold" + words + text + NUL) >= report_of(report).end, text
