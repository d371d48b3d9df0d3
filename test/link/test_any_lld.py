"""--lld: a linker that knows nothing of fronts lays out the same front as the built-in one."""

import json
import resource
import shutil
import subprocess
from functools import partial

import pytest
from elftools.elf.elffile import ELFFile
from linking import (
    ALWAYS,
    COMPILERS,
    LD_FRONTLOAD,
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
from other_lld import VERSIONS, check_equal, link_both, other_lld
from whole import HOT, PROGRAMS, check_front, compile_whole, load_segments

MODES = {
    "pie": ("-fPIE", "-pie"),
    "no-pie": ("-fno-pie", "-no-pie"),
    "static": ("-fno-pie", "-static"),
    "static-pie": ("-fPIE", "-static-pie"),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("mode", MODES)
def test_cxx_in_every_mode(tmp_path, compiler, mode):
    """The output is that of the built-in lld, to the byte; with clang's objects, in which sections
    and symbols share a table of names, and with gcc's, in which they do not."""
    compile_flag, *flags = MODES[mode]
    objects = compile_whole(tmp_path, compile_flag, compiler=compiler)
    out = check_equal(tmp_path, *objects, *flags, "-Wl,--build-id", driver=COMPILERS["clang"][1],
                      profile=write_profile(tmp_path, *HOT))
    check_front(out)
    check_run(out)


def test_shared_library(tmp_path):
    library = compile_source(tmp_path, PROGRAMS / "library.cpp", "-fPIC")
    out = check_equal(tmp_path, library, "-shared", "-Wl,--gc-sections",
                      driver=COMPILERS["clang"][1],
                      profile=write_profile(tmp_path, "hot_1_call", "cold_word"))
    assert Image(out).section_of("hot_1_call") == ".text.front"


def test_without_sections_of_their_own(tmp_path):
    """All functions of an object then share one name, and go together."""
    objects = [compile_text(tmp_path, f"{name}.c", text, "-fno-function-sections",
                            "-fno-data-sections")
               for name, text in [("a", "int cold(void) { return 1; }\n"),
                                  ("b", "int cold(void); int hot(void) { return cold(); }\n"),
                                  ("c", "int hot(void); int main(void) { return hot() - 1; }\n")]]
    out = check_equal(tmp_path, *objects, profile=write_profile(tmp_path, "main", "hot"))
    check_run(out)
    image = Image(out)
    assert image.section_of("main") == image.section_of("hot") == ".text.front"
    assert image.section_of("cold") == ".text"


@pytest.mark.parametrize("kind", ["regular", "thin"])
@pytest.mark.parametrize("size", ["small", "large"])
def test_archives(tmp_path, llvm, kind, size):
    """Members are found where they lie: in a file that is mapped, in one of less than 16 KiB, which
    lld reads into memory of its own, or in files of their own."""
    filler = f"char filler[{1 << 16}] = {{1}};\n" if size == "large" else ""
    members = [compile_text(tmp_path, f"{name}.c",
                            f"int {name}(int x) {{ return x + {i}; }}\n"
                            f"int cold_{name}(void) {{ return 7; }}\n" + (filler if not i else ""))
               for i, name in enumerate(["one", "two", "three"])]
    archive = tmp_path / "lib.a"
    check_run(llvm / "llvm-ar", "rcsT" if kind == "thin" else "rcs", archive, *members)
    main = compile_text(tmp_path, "main.c", "int one(int), two(int);\n"
                        "int main(void) { return one(two(-1)); }\n")
    # Given twice, as compiler drivers give libgcc.
    out = check_equal(tmp_path, main, archive, archive,
                      profile=write_profile(tmp_path, "two", "main", "one"))
    check_run(out)
    image = Image(out)
    assert image.symbols["two"].address < image.symbols["main"].address
    assert {image.section_of(n) for n in ("one", "two", "main")} == {".text.front"}
    assert image.section_of("cold_one") == ".text"


@pytest.mark.parametrize("version", VERSIONS)
def test_strings_of_startup_come_first(tmp_path, version):
    """Whatever hash that lld uses, and although it knows nothing of it."""
    text = "".join(f'const char *string_{i}(void) {{ return "string number {i}"; }}\n'
                   for i in range(400))
    calls = " + ".join(f"*string_{i}()" for i in range(400))
    program = compile_text(tmp_path, "a.c", "#include <stdio.h>\n" + text +
                           f"int main(void) {{ puts(string_77()); return ({calls}) == 0; }}\n")
    hot = [f"string number {i}" for i in (5, 77, 399)]
    profile = write_profile(tmp_path, measured("main"), *[("string", "rodata", h) for h in hot])
    out, report = tmp_path / "out", tmp_path / "report.json"
    link(out, program, f"-Wl,--lld={other_lld(version)},--front-report={report}", profile=profile)
    assert check_run(out) == "string number 77\n"
    content, end = with_begun_strings(out), report_of(report).end
    texts = [b"\0" + f"string number {i}".encode() + b"\0" for i in range(400)]
    inside = {i for i, text in enumerate(texts) if content.index(text) + len(text) <= end}
    assert inside == {5, 77, 399}
    assert report_of(report).missing == set()


@pytest.mark.parametrize("version", VERSIONS)
def test_versions(tmp_path, version):
    """A C++ program that throws from its front, linked by an lld of each version that is here."""
    objects = compile_whole(tmp_path, compiler="clang")
    out, plain, report = tmp_path / "out", tmp_path / "plain", tmp_path / "report.json"
    link(out, *objects, "-pie", f"-Wl,--lld={other_lld(version)},--front-report={report}",
         driver=COMPILERS["clang"][1], profile=write_profile(tmp_path, *HOT))
    link(plain, *objects, "-pie", driver=COMPILERS["clang"][1])
    assert check_run(out) == check_run(plain)
    check_front(out)
    assert report_of(report).placed == len(HOT)


def test_report(tmp_path):
    """It is the built-in lld's, too: what is in the link is known from the map of the link."""
    objects = compile_whole(tmp_path)
    reports = []
    for name, flags in (("embedded", []), ("other", [f"-Wl,--lld={other_lld('22')}"])):
        path = tmp_path / f"{name}.json"
        link(tmp_path / "out", *objects, *flags, f"-Wl,--front-report={path}",
             driver=COMPILERS["clang"][1], profile=write_profile(tmp_path, *HOT, "gone"))
        reports.append(json.loads(path.read_text()))
    assert reports[0] == reports[1]
    assert reports[0]["names"]["placed"] == len(HOT)


@pytest.mark.parametrize("flags", [[], ["-s"], ["-Wl,--gc-sections", "-Wl,--icf=all"]])
def test_found_names_are_told(tmp_path, flags):
    """As many as by the built-in lld: by the symbols of the output, or, if it has none, its map."""
    program = compile_text(tmp_path, "a.c", "int unused(void) { return 7; }\n"
                           "static __attribute__((noinline)) int helper(int x) { return x; }\n"
                           "int main(int argc, char **v) { return helper(argc - 1); }\n")
    profile = write_profile(tmp_path, "main", "helper", "unused", "gone")
    told = []
    for lld in ([], [f"-Wl,--lld={other_lld('22')}"]):
        result = link(tmp_path / "out", program, *flags, *lld, "-Wl,--min-match=10",
                      profile=profile)
        told.append([line for line in result.stderr.splitlines() if "names found" in line])
    assert told[0] == told[1] and len(told[0]) == 1


def test_too_few_names(tmp_path):
    """The link fails as by the built-in lld, and the previous output stays."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    profile = write_profile(tmp_path, "main", "gone1", "gone2")
    (tmp_path / "out").write_text("precious")
    before = sorted(tmp_path.iterdir())
    result = ld(program, "-o", tmp_path / "out", "-e", "main", f"--lld={other_lld('22')}",
                f"--startup-profile={profile}", code=1)
    assert "1 of 3 names found" in result.stderr
    assert (tmp_path / "out").read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


def test_map_and_dependencies(tmp_path):
    """What the linker writes has the names that the objects have, and no input that is ours."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    profile = write_profile(tmp_path, "main").rename(tmp_path / "a $1 # b.startup")
    written = []
    for lld in ([], [f"-Wl,--lld={other_lld('22')}"]):
        link(tmp_path / "out", program, *lld, f"-Wl,-Map={tmp_path / 'map'}",
             f"-Wl,--dependency-file={tmp_path / 'deps'}", profile=profile)
        written.append([(tmp_path / name).read_text() for name in ("map", "deps")])
    assert written[0] == written[1]
    assert "a.o:(.text.main)" in written[0][0]
    assert r"a\ $$1\ \#\ b.startup" in written[0][1]


@pytest.mark.parametrize("option", ["-Map", "--dependency-file", "--print-gc-sections"])
@pytest.mark.parametrize("target", ["file", "stdout", "-"])
def test_texts_are_written_through_links(tmp_path, option, target):
    """The built-in lld writes what a link refers to, a file or a device, or the standard output:
    so does this, and the link stays."""
    program = compile_text(tmp_path, "a.c", "int unused(void) { return 7; }\n"
                           "int main(void) { return 0; }\n")
    path = "-" if target == "-" else tmp_path / "link"
    (tmp_path / "file").write_text("old")
    if target != "-":
        (tmp_path / "link").symlink_to("/proc/self/fd/1" if target == "stdout" else "file")
    written = []
    for lld in ([], [f"--lld={other_lld('22')}"]):
        with (tmp_path / "output").open("w") as output:
            subprocess.run([LD_FRONTLOAD, program, "-e", "main", "--gc-sections", "--min-match=0",
                            f"--startup-profile={write_profile(tmp_path, 'main', 'unused')}", *lld,
                            ALWAYS, f"{option}={path}", "-o", tmp_path / "out"],
                           stdout=output, stderr=subprocess.DEVNULL, check=True)
        written.append([(tmp_path / name).read_text() for name in ("output", "file")])
        assert (tmp_path / "output").is_file() and not (tmp_path / "output").is_symlink()
        assert path == "-" or path.is_symlink()
    assert written[0] == written[1]
    assert "a.o" in written[0][target == "file"]


def test_cross_references(tmp_path):
    """Without a map that is asked for they are printed, also if a report needs a map."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    profile = write_profile(tmp_path, "main")
    printed = [ld(program, "-e", "main", "--cref", f"--startup-profile={profile}", *lld,
                  f"--front-report={tmp_path / 'report'}", "-o", tmp_path / "out").stdout
               for lld in ([], [f"--lld={other_lld('22')}"])]
    assert printed[0] == printed[1]
    assert printed[0].startswith("\nCross Reference Table")


def test_a_folder_with_a_percent_sign(tmp_path):
    """In names of temporary files, LLVM takes it for a digit to be chosen."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    folder = tmp_path / "100%"
    folder.mkdir()
    options = {"--dependency-file": folder / "deps", "--front-report": folder / "report"}
    profile = write_profile(tmp_path, "main")
    ld(program, "-e", "main", f"--startup-profile={profile}", f"--lld={other_lld('22')}",
       *(f"{option}={path}" for option, path in options.items()), "-o", tmp_path / "out%")
    assert sorted(folder.iterdir()) == sorted(options.values())
    assert (folder / "deps").read_text().startswith(f"{tmp_path / 'out%'}:")
    assert (tmp_path / "out%").exists()


@pytest.mark.parametrize("version", ["16", "22"])
def test_time_trace(tmp_path, version):
    """It is where the output of that name would have it."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    profile = write_profile(tmp_path, "main")
    (tmp_path / "out").write_text("")
    (tmp_path / "out.time-trace").write_text("old")
    before = sorted([*tmp_path.iterdir(), tmp_path / "other.json"])
    for flags, name in (([], "out.time-trace"), ([f"={tmp_path / 'other.json'}"], "other.json")):
        ld(program, "-e", "main", f"--startup-profile={profile}", f"--lld={other_lld(version)}",
           "".join(["--time-trace", *flags]), "-o", tmp_path / "out")
        assert json.loads((tmp_path / name).read_text())["traceEvents"]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("option", ["-Map", "--dependency-file", "--time-trace"])
def test_texts_that_cannot_be_written(tmp_path, option):
    """The previous output stays."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    profile = write_profile(tmp_path, "main")
    (tmp_path / "full").symlink_to("/dev/full")
    (tmp_path / "out").write_text("precious")
    before = sorted(tmp_path.iterdir())
    result = ld(program, "-e", "main", f"--startup-profile={profile}",
                f"--lld={other_lld('22')}", f"{option}={tmp_path / 'full'}", "-o",
                tmp_path / "out", code=2)
    assert f"{tmp_path / 'full'}: No space left on device" in result.stderr
    assert (tmp_path / "out").read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


def test_messages(tmp_path):
    """Errors name sections as they are, and come once, with the linker's exit status."""
    text = '.section .text.main,"ax"\n.globl main\nmain: call gone\n'
    program = compile_text(tmp_path, "a.s", text)
    (tmp_path / "out").write_text("precious")
    arguments = (program, "-o", tmp_path / "out", "-e", "main", "-z", "bad-option",
                 f"--startup-profile={write_profile(tmp_path, 'main')}")
    embedded = ld(*arguments, code=1).stderr.splitlines()
    lines = ld(*arguments, f"--lld={other_lld('22')}", code=1).stderr.splitlines()
    assert [line.replace("ld.lld: ", "ld.frontload: ") for line in lines] == [
        line for line in embedded if "names found" not in line]
    other = "\n".join(lines)
    assert "undefined symbol: gone" in other and "a.o:(.text.main+" in other
    assert "bad-option" in other
    assert (tmp_path / "out").read_text() == "precious"


def test_emitted_relocations(tmp_path):
    """What is loaded is the same. The symbols of sections, which these relocations refer to, are in
    another order."""
    both = link_both(tmp_path, *compile_whole(tmp_path, compiler="clang"), "-Wl,--emit-relocs",
                     "-Wl,--build-id=none", driver=COMPILERS["clang"][1],
                     profile=write_profile(tmp_path, *HOT))
    assert load_segments(both[0]) == load_segments(both[1])
    end = max(s.p_offset + s.p_filesz for s in load_segments(both[0]))
    header = 64
    assert both[0].read_bytes()[header:end] == both[1].read_bytes()[header:end]


@pytest.mark.parametrize("flag", ["--threads=1", "--sort-section=name",
                                  "--build-id=sha1", "-O0", "-O2", "--start-lib", "--icf=all",
                                  "--front-prefetch"])
def test_options(tmp_path, flag):
    """Options that meet sections, their order or their names change nothing about that."""
    check_equal(tmp_path, *compile_whole(tmp_path, compiler="clang"), f"-Wl,{flag}",
                driver=COMPILERS["clang"][1], profile=write_profile(tmp_path, *HOT))


def test_the_hash_of_the_output_is_not_changed(tmp_path):
    """As strings are hashed, so is the output for its build ID; here for one that would change."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    profile = write_profile(tmp_path, "main")
    for i in range(1000):
        arguments = (program, "-e", "main", "--build-id=fast", f"--defsym=number={i}",
                     f"--startup-profile={profile}", "-o")
        ld(*arguments, tmp_path / "embedded")
        with (tmp_path / "embedded").open("rb") as stream:
            notes = ELFFile(stream).get_section_by_name(".note.gnu.build-id").iter_notes()
            (build_id,) = [bytes.fromhex(note["n_desc"]) for note in notes]
        if int.from_bytes(build_id, "little") >> 27 & 31 == 0:
            break
    ld(*arguments, tmp_path / "other", f"--lld={other_lld('22')}")
    assert (tmp_path / "other").read_bytes() == (tmp_path / "embedded").read_bytes()


def test_names_that_cannot_be_marked(tmp_path):
    """Where a symbol's name begins within the mark, the section keeps its place; the report says
    so."""
    text = "int main(void) { return 0; }\n__asm__(\".globl ext.main\\next.main = main\");\n"
    program = compile_text(tmp_path, "a.c", text, compiler="clang")
    report = tmp_path / "report.json"
    link(tmp_path / "out", program, f"-Wl,--lld={other_lld('22')},--front-report={report}",
         "-Wl,--min-match=0", profile=write_profile(tmp_path, "main"))
    assert json.loads(report.read_text())["kept"] == 1
    assert Image(tmp_path / "out").section_of("main") == ".text"
    check_run(tmp_path / "out")


@pytest.mark.parametrize("how", ["option", "script", "member"])
@pytest.mark.parametrize("size", ["small", "large"])
def test_an_object_that_is_also_data(tmp_path, llvm, how, size):
    """Its bytes come into the output as they are, so its sections keep their place."""
    (tmp_path / "a.c").write_text("int one(void) { return 1; }\n" +
                                  (f"char filler[{1 << 16}] = {{1}};\n" if size == "large" else ""))
    check_run("gcc", "-ffunction-sections", "-c", "a.c", cwd=tmp_path)
    program = compile_text(tmp_path, "b.c", "int one(void);\nint main(void) { return one(); }\n")
    (tmp_path / "data.lds").write_text("TARGET(binary) INPUT(a.o)\n")
    check_run(llvm / "llvm-ar", "rcsT", "a.a", "a.o", cwd=tmp_path)
    data = ["data.lds"] if how == "script" else ["--format=binary", "a.o", "--format=default"]
    report = tmp_path / "report.json"
    ld(program, "a.a" if how == "member" else "a.o", *data, "-e", "main", "-o", "out",
       f"--lld={other_lld('22')}", f"--startup-profile={write_profile(tmp_path, 'main', 'one')}",
       f"--front-report={report}", cwd=tmp_path)
    assert (tmp_path / "a.o").read_bytes() in (tmp_path / "out").read_bytes()
    image = Image(tmp_path / "out")
    assert image.section_of("main") == ".text.front"
    assert image.section_of("one") == ".text"
    assert json.loads(report.read_text())["kept"] == 1


@pytest.mark.parametrize("version", ["22", "rust"])
@pytest.mark.parametrize("kind", ["front", "plain", "relocatable"])
def test_a_command_line_of_megabytes(tmp_path, version, kind):
    """It goes through a response file, however the linker was given it; also where ld.frontload
    only starts that linker."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    many = tmp_path / "many.rsp"
    many.write_text("".join(f"-L/no/such/folder/{i:0100}\n" for i in range(20000)))
    flags = ["-r"] if kind == "relocatable" else ["-e", "main"]
    if kind != "plain":
        flags.append(f"--startup-profile={write_profile(tmp_path, 'main')}")
    outputs = [tmp_path / "short", tmp_path / "long"]
    for output, more in zip(outputs, ([], [f"@{many}"]), strict=True):
        ld(program, *flags, *more, f"--lld={other_lld(version)}", "-o", output)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_gcc(tmp_path, build):
    """gcc finds ld.frontload as ld.lld in a folder."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    check_run("gcc", "-B", build / "lib" / "frontload" / "gcc", "-fuse-ld=lld", program, "-o",
              tmp_path / "out", f"-Wl,--startup-profile={write_profile(tmp_path, 'main')}",
              f"-Wl,--lld={other_lld('19')}")
    assert Image(tmp_path / "out").section_of("main") == ".text.front"


def test_a_folder_that_a_list_of_libraries_cannot_name(tmp_path, build):
    """LD_PRELOAD is separated by spaces and colons."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    here = tmp_path / "a b:c"
    for name in ("bin/ld.frontload", "lib/libfrontload-lld.so"):
        (here / name).parent.mkdir(parents=True)
        shutil.copy(build / name, here / name)
    link(tmp_path / "out", program, f"-Wl,--lld={other_lld('22')}",
         linker=here / "bin" / "ld.frontload", profile=write_profile(tmp_path, "main"))
    assert Image(tmp_path / "out").section_of("main") == ".text.front"


def test_a_wrapper(tmp_path):
    """PATH may be a script that starts the linker."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    wrapper = tmp_path / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nexec {other_lld("22")} "$@"\n')
    wrapper.chmod(0o755)
    link(tmp_path / "out", program, f"-Wl,--lld={wrapper}",
         profile=write_profile(tmp_path, "main"))
    assert Image(tmp_path / "out").section_of("main") == ".text.front"


def test_without_a_profile(tmp_path):
    """It is the other linker, to the byte; as it is for a link to an object."""
    program = compile_text(tmp_path, "a.c", "int main(void) { return 0; }\n")
    lld = other_lld("19")
    for flags in ([], ["-r"]):
        check_run(COMPILERS["clang"][0], f"--ld-path={LD_FRONTLOAD}", *flags, program, "-o",
                  tmp_path / "ours", f"-Wl,--lld={lld}")
        check_run(COMPILERS["clang"][0], f"--ld-path={lld}", *flags, program, "-o",
                  tmp_path / "theirs")
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    version = subprocess.run([LD_FRONTLOAD, f"--lld={lld}", "--version",
                              f"--startup-profile={write_profile(tmp_path, 'main')}"],
                             capture_output=True, text=True)
    assert version.returncode == 0 and "LLD 19" in version.stdout


def test_equal_with_recorded_strings(tmp_path):
    """Also where the profile has recorded data."""
    program = compile_source(tmp_path, PROGRAMS / "strings.c")
    profile = write_profile(tmp_path, measured("main"), ("string", "rodata", "hot_1 short"),
                            ("string", "rodata", "gone"))
    embedded, other = link_both(tmp_path, program, "-Wl,--min-match=0", profile=profile)
    assert embedded.read_bytes() == other.read_bytes()
    assert check_run(embedded) == check_run(other)


def test_a_name_of_a_million_lines(tmp_path):
    """A section's name may have any number of newlines. The map of the link has them as they are;
    to find the name again takes no longer than to read it."""
    name, lines = b".text.hot" + b"x" * 1_500_000, 1_500_000
    made = compile_text(tmp_path, "hot.s", f""".section {name.decode()},"ax",@progbits
                        .globl hot\nhot: ret\n.globl main\nmain: ret\n""")
    made.write_bytes(made.read_bytes().replace(b"x" * lines, b"\n" * lines))
    report = tmp_path / "report.json"
    ld("-o", tmp_path / "app", made, "--entry=main", f"--lld={other_lld('22')}",
       f"--front-report={report}", f"--startup-profile={write_profile(tmp_path, 'hot')}",
       preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (20, 20)))
    assert report_of(report).placed == 1
