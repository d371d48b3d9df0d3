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
    MAIN,
    Image,
    bare_front,
    check_run,
    compile_source,
    compile_text,
    front,
    ld,
    link,
    measured,
    with_begun_strings,
    write_profile,
)
from other_lld import BY_LLD, VERSIONS, check_equal, other_lld
from whole import HOT, PROGRAMS, check_front, compile_whole

CXX = COMPILERS["clang"][1]
# The built-in lld and another one. What they print and write has to be the same.
BOTH = ([], [BY_LLD])


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "main")


@pytest.mark.parametrize(("compiler", "flags", "options"), [
    ("clang", ("-fPIE", "-pie"), "--threads=1,--build-id=sha1,--sort-section=name,--start-lib"),
    ("gcc", ("-fno-pie", "-no-pie"), "--build-id,-O0"),
    ("clang", ("-fno-pie", "-static"), "--build-id"),
    ("clang", ("-fPIE", "-pie"), "--icf=all,-O2"),
    ("gcc", ("-fPIE", "-static-pie"), "--front-prefetch")])
def test_cxx_in_every_mode(tmp_path, compiler, flags, options):
    """The output is that of the built-in lld, to the byte; with clang's objects, in which sections
    and symbols share a table of names, and with gcc's, in which they do not; and with options that
    meet sections, their order or their names."""
    out = check_equal(tmp_path, *compile_whole(tmp_path, flags[0], compiler=compiler), flags[1],
                      f"-Wl,{options}", driver=CXX, profile=write_profile(tmp_path, *HOT))
    check_front(out)


def test_shared_library_with_recorded_strings(tmp_path):
    objects = [compile_source(tmp_path, PROGRAMS / "library.cpp", "-fPIC"),
               compile_source(tmp_path, PROGRAMS / "strings.c", "-fPIC")]
    entries = measured("hot_1_call"), "cold_word", *(("string", "rodata", f"{n} short")
                                                     for n in ("hot", "gone"))
    out = check_equal(tmp_path, *objects, "-shared", "-Wl,--gc-sections,--min-match=0", driver=CXX,
                      profile=write_profile(tmp_path, *entries))
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
    assert Image(out).sections_of("main", "hot") == {".text.front"}
    assert Image(out).section_of("cold") == ".text"


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
    assert image.is_ordered("two", "main")
    assert image.sections_of("one", "two", "main") == {".text.front"}
    assert image.section_of("cold_one") == ".text"


@pytest.mark.parametrize("version", VERSIONS)
def test_versions(tmp_path, version):
    """A C++ program that throws from its front, linked by an lld of each version that is here: with
    the strings of startup first, whatever hash that lld uses, and cold code in its own section."""
    strings = "".join(f'const char *string_{i}(void) {{ return "string number {i}"; }}\n'
                      for i in range(400))
    calls = " + ".join(f"*string_{i}()" for i in range(400))
    more = compile_text(tmp_path, "a.c", f"{strings} int cold(void) {{ return {calls}; }}\n"
                        "__attribute__((section(\".text.unlikely.f\"))) void complain(void) {}\n")
    hot = {5, 77, 399}
    flags = [*compile_whole(tmp_path, compiler="clang"), more, "-pie",
             "-Wl,-z,keep-text-section-prefix"]
    linked = front(tmp_path, *flags, f"-Wl,--lld={other_lld(version)}", driver=CXX, entries=[
        *map(measured, HOT), *(("string", "rodata", f"string number {i}") for i in sorted(hot))])
    link(tmp_path / "plain", *flags, driver=CXX)
    assert check_run(linked.path) == check_run(tmp_path / "plain")
    check_front(linked.path)
    assert linked.names["placed"] == len(HOT) + len(hot) and not linked.missing
    content = with_begun_strings(linked.path)
    texts = [b"\0" + f"string number {i}".encode() + b"\0" for i in range(400)]
    assert {i for i, text in enumerate(texts)
            if content.index(text) + len(text) <= linked.end} == hot
    assert linked.image.section_of("complain") == ".text.unlikely"
    order = [name for name in linked.image.order if name.startswith(".text")]
    assert order == [".text.front", ".text", ".text.unlikely"]


@pytest.mark.parametrize("flags", [[], ["-s"], ["--gc-sections", "--icf=all"]])
def test_found_names_are_told(tmp_path, flags):
    """As many as by the built-in lld: by the symbols of the output, or, if it has none, its map."""
    program = compile_text(tmp_path, "a.c", "int unused(void) { return 7; }\n"
                           "static __attribute__((noinline)) int helper(int x) { return x; }\n"
                           "int main(int argc, char **v) { return helper(argc - 1); }\n")
    told = [bare_front(tmp_path, program, *flags, *lld, "--min-match=10",
                       entries=("main", "helper", "unused", "gone")).said for lld in BOTH]
    assert told[0] == told[1] and told[0].count("names found") == 1


def test_too_few_names(tmp_path, program):
    """The link fails as by the built-in lld, and the previous output stays."""
    profile = write_profile(tmp_path, "main", "gone1", "gone2")
    (tmp_path / "out").write_text("precious")
    before = sorted(tmp_path.iterdir())
    result = ld(program, "-o", tmp_path / "out", "-e", "main", BY_LLD,
                f"--startup-profile={profile}", code=1)
    assert "1 of 3 names found" in result.stderr
    assert (tmp_path / "out").read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


def test_map_and_dependencies(tmp_path, program, profile):
    """What the linker writes has the names that the objects have, and no input that is ours; the
    folder may have a percent sign, which LLVM takes for a digit to be chosen."""
    profile = profile.rename(tmp_path / "a $1 # b.startup")
    folder = tmp_path / "100%"
    folder.mkdir()
    written = []
    for lld in BOTH:
        ld(program, "-e", "main", "-o", tmp_path / "out%", *lld,
           f"--startup-profile={profile}", f"-Map={tmp_path / 'map'}",
           f"--dependency-file={folder / 'deps'}", f"--front-report={folder / 'report'}")
        written.append([path.read_text() for path in (tmp_path / "map", folder / "deps")])
        assert {path.name for path in folder.iterdir()} == {"deps", "report"}
    assert written[0] == written[1]
    assert "a.o:(.text.main)" in written[0][0]
    assert r"a\ $$1\ \#\ b.startup" in written[0][1]
    assert written[0][1].startswith(f"{tmp_path / 'out%'}:")


@pytest.mark.parametrize("option", ["-Map", "--dependency-file", "--print-gc-sections"])
@pytest.mark.parametrize("target", ["file", "stdout", "-"])
def test_texts_are_written_through_links(tmp_path, option, target):
    """The built-in lld writes what a link refers to, a file or a device, or the standard output:
    so does this, and the link stays."""
    program = compile_text(tmp_path, "a.c", "int unused(void) { return 7; }\n" + MAIN)
    path = "-" if target == "-" else tmp_path / "link"
    (tmp_path / "file").write_text("old")
    if target != "-":
        path.symlink_to("/proc/self/fd/1" if target == "stdout" else "file")
    written = []
    for lld in BOTH:
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


def test_cross_references(tmp_path, program, profile):
    """Without a map that is asked for they are printed, also if a report needs a map."""
    printed = [ld(program, "-e", "main", "--cref", f"--startup-profile={profile}", *lld,
                  f"--front-report={tmp_path / 'report'}", "-o", tmp_path / "out").stdout
               for lld in BOTH]
    assert printed[0] == printed[1]
    assert printed[0].startswith("\nCross Reference Table")


@pytest.mark.parametrize("version", ["16", "22"])
def test_time_trace(tmp_path, program, profile, version):
    """It is where the output of that name would have it."""
    (tmp_path / "out").write_text("")
    (tmp_path / "out.time-trace").write_text("old")
    before = sorted([*tmp_path.iterdir(), tmp_path / "other.json"])
    for flags, name in (("", "out.time-trace"), (f"={tmp_path / 'other.json'}", "other.json")):
        ld(program, "-e", "main", f"--startup-profile={profile}",
           f"--lld={other_lld(version)}", f"--time-trace{flags}", "-o", tmp_path / "out")
        assert json.loads((tmp_path / name).read_text())["traceEvents"]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("option", ["-Map", "--dependency-file", "--time-trace"])
def test_texts_that_cannot_be_written(tmp_path, program, profile, option):
    """The previous output stays."""
    (tmp_path / "full").symlink_to("/dev/full")
    (tmp_path / "out").write_text("precious")
    before = sorted(tmp_path.iterdir())
    result = ld(program, "-e", "main", f"--startup-profile={profile}", BY_LLD,
                f"{option}={tmp_path / 'full'}", "-o", tmp_path / "out", code=2)
    assert f"{tmp_path / 'full'}: No space left on device" in result.stderr
    assert (tmp_path / "out").read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


def test_messages(tmp_path, profile):
    """Errors name sections as they are, and come once, with the linker's exit status."""
    text = '.section .text.main,"ax"\n.globl main\nmain: call gone\n'
    program = compile_text(tmp_path, "a.s", text)
    (tmp_path / "out").write_text("precious")
    arguments = (program, "-o", tmp_path / "out", "-e", "main", "-z", "bad-option",
                 f"--startup-profile={profile}")
    embedded, other = (ld(*arguments, *lld, code=1).stderr.splitlines() for lld in BOTH)
    assert [line.replace("ld.lld: ", "ld.frontload: ") for line in other] == [
        line for line in embedded if "names found" not in line]
    said = "\n".join(other)
    assert "undefined symbol: gone" in said and "a.o:(.text.main+" in said
    assert "bad-option" in said
    assert (tmp_path / "out").read_text() == "precious"


def test_the_hash_of_the_output_is_not_changed(tmp_path, program, profile):
    """As strings are hashed, so is the output for its build ID; here for one that would change."""
    for i in range(1000):
        arguments = (program, "-e", "main", "--build-id=fast", f"--defsym=number={i}",
                     f"--startup-profile={profile}", "-o")
        ld(*arguments, tmp_path / "embedded")
        with (tmp_path / "embedded").open("rb") as stream:
            notes = ELFFile(stream).get_section_by_name(".note.gnu.build-id").iter_notes()
            (build_id,) = [bytes.fromhex(note["n_desc"]) for note in notes]
        if int.from_bytes(build_id, "little") >> 27 & 31 == 0:
            break
    ld(*arguments, tmp_path / "other", BY_LLD)
    assert (tmp_path / "other").read_bytes() == (tmp_path / "embedded").read_bytes()


@pytest.mark.parametrize(("how", "size"), [("option", "small"), ("option", "large"),
                                           ("script", "large"), ("member", "small")])
def test_an_object_that_is_also_data(tmp_path, llvm, how, size):
    """Its bytes come into the output as they are, so its sections keep their place."""
    (tmp_path / "a.c").write_text("int one(void) { return 1; }\n" +
                                  (f"char filler[{1 << 16}] = {{1}};\n" if size == "large" else ""))
    check_run("gcc", "-ffunction-sections", "-c", "a.c", cwd=tmp_path)
    program = compile_text(tmp_path, "b.c", "int one(void);\nint main(void) { return one(); }\n")
    (tmp_path / "data.lds").write_text("TARGET(binary) INPUT(a.o)\n")
    check_run(llvm / "llvm-ar", "rcsT", "a.a", "a.o", cwd=tmp_path)
    data = ["data.lds"] if how == "script" else ["--format=binary", "a.o", "--format=default"]
    ld(program, "a.a" if how == "member" else "a.o", *data, "-e", "main", "-o", "out", BY_LLD,
       f"--startup-profile={write_profile(tmp_path, 'main', 'one')}", "--front-report=report",
       cwd=tmp_path)
    assert (tmp_path / "a.o").read_bytes() in (tmp_path / "out").read_bytes()
    image = Image(tmp_path / "out")
    assert image.section_of("main") == ".text.front" and image.section_of("one") == ".text"
    assert json.loads((tmp_path / "report").read_text())["kept"] == 1


@pytest.mark.parametrize("version", ["22", "rust"])
@pytest.mark.parametrize("kind", ["front", "plain", "relocatable"])
def test_a_command_line_of_megabytes(tmp_path, program, profile, version, kind):
    """It goes through a response file, however the linker was given it; also where ld.frontload
    only starts that linker."""
    many = tmp_path / "many.rsp"
    many.write_text("".join(f"-L/no/such/folder/{i:0100}\n" for i in range(20000)))
    flags = ["-r"] if kind == "relocatable" else ["-e", "main"]
    if kind != "plain":
        flags.append(f"--startup-profile={profile}")
    outputs = [tmp_path / "short", tmp_path / "long"]
    for output, more in zip(outputs, ([], [f"@{many}"]), strict=True):
        ld(program, *flags, *more, f"--lld={other_lld(version)}", "-o", output)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


def test_a_folder_that_a_list_of_libraries_cannot_name(tmp_path, build, program, profile):
    """LD_PRELOAD is separated by spaces and colons."""
    here = tmp_path / "a b:c"
    for name in ("bin/ld.frontload", "lib/libfrontload-lld.so"):
        (here / name).parent.mkdir(parents=True)
        shutil.copy(build / name, here / name)
    link(tmp_path / "out", program, f"-Wl,{BY_LLD}", linker=here / "bin" / "ld.frontload",
         profile=profile)
    assert Image(tmp_path / "out").section_of("main") == ".text.front"


def test_without_a_profile(tmp_path, program, profile):
    """It is the other linker, to the byte; as it is for a link to an object."""
    lld = other_lld("19")
    for flags in ([], ["-r"]):
        ld(*flags, program, "-e", "main", "-o", tmp_path / "ours", f"--lld={lld}")
        check_run(lld, *flags, program, "-e", "main", "-o", tmp_path / "theirs")
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert "LLD 19" in ld(f"--lld={lld}", "--version", f"--startup-profile={profile}").stdout


def test_a_name_of_a_million_lines(tmp_path):
    """A section's name may have any number of newlines. The map of the link has them as they are;
    to find the name again takes no longer than to read it."""
    lines = 1_500_000
    made = compile_text(tmp_path, "hot.s", f""".section .text.hot{"x" * lines},"ax",@progbits
                        .globl hot\nhot: ret\n.globl main\nmain: ret\n""")
    made.write_bytes(made.read_bytes().replace(b"x" * lines, b"\n" * lines))
    report = tmp_path / "report.json"
    ld("-o", tmp_path / "app", made, "--entry=main", BY_LLD, f"--front-report={report}",
       f"--startup-profile={write_profile(tmp_path, 'hot')}",
       preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (20, 20)))
    assert json.loads(report.read_text())["names"]["placed"] == 1
