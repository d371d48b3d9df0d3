"""--lld: a linker that knows nothing of fronts lays out the same front as the built-in one."""

import pytest
from linking import Image, bare_front, check_run, compile_text, front, ld, measured, write_profile
from other_lld import BY_LLD, VERSIONS, check_equal, other_lld
from whole import CXX, HOT, check_front, compile_whole

# The built-in lld and another one. What they print and write has to be the same.
BOTH = ([], [BY_LLD])


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "main")


@pytest.mark.parametrize(("compiler", "flags", "options"), [
    ("clang", ("-fPIE", "-pie"), "--threads=1,--build-id=sha1,--sort-section=name,--start-lib"),
    ("gcc", ("-fno-pie", "-no-pie"), "--build-id,-O0"),
    ("clang", ("-fno-pie", "-static"), "--build-id"),
    ("clang", ("-fPIE", "-pie"), "--icf=all,-O2")])
def test_cxx_in_every_mode(tmp_path, compiler, flags, options):
    """The output is that of the built-in lld, to the byte; with clang's objects, in which sections
    and symbols share a table of names, and with gcc's, in which they do not."""
    check_front(check_equal(tmp_path, *compile_whole(tmp_path, flags[0], compiler=compiler),
                            flags[1], f"-Wl,{options}", driver=CXX,
                            profile=write_profile(tmp_path, *HOT)))


@pytest.mark.parametrize(("kind", "filler"), [("rcsT", 1), ("rcs", 1), ("rcs", 1 << 16)])
def test_archives(tmp_path, llvm, kind, filler):
    """Members are found where they lie: in files of their own, in an archive of less than 16 KiB,
    which lld reads into memory of its own, or in one that is mapped."""
    members = [compile_text(tmp_path, f"{name}.c", f"int {name}(int x) {{ return x + {i}; }}\n"
                            f"int cold_{name}(void) {{ return 7; }}\n"
                            f"char filler_{name}[{filler}] = {{1}};\n")
               for i, name in enumerate(["one", "two", "three"])]
    archive = tmp_path / "lib.a"
    check_run(llvm / "llvm-ar", kind, archive, *members)
    main = compile_text(tmp_path, "main.c", "int one(int), two(int);\n"
                        "int main(void) { return one(two(-1)); }\n")
    # Given twice, as compiler drivers give libgcc.
    image = Image(check_equal(tmp_path, main, archive, archive,
                              profile=write_profile(tmp_path, "two", "main", "one")))
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
    linked = front(tmp_path, *compile_whole(tmp_path, compiler="clang"), more, "-pie",
                   "-Wl,-z,keep-text-section-prefix", f"-Wl,--lld={other_lld(version)}", driver=CXX,
                   entries=[*map(measured, HOT), *(("string", "rodata", f"string number {i}")
                                                   for i in sorted(hot))])
    check_run(linked.path)
    check_front(linked.path)
    assert linked.names["placed"] == len(HOT) + len(hot) and not linked.missing
    assert {i for i in range(400) if linked.front_has(b"string number %d\0" % i)} == hot
    order = [name for name in linked.image.order if name.startswith(".text")]
    assert order == [".text", ".text.unlikely"]


def test_map_and_dependencies(tmp_path, program, profile):
    """What the linker writes has the names that the objects have, and no input that is ours; the
    folder may have a percent sign, which LLVM takes for a digit to be chosen."""
    profile = profile.rename(tmp_path / "a $1 # b.startup")
    folder = tmp_path / "100%"
    folder.mkdir()
    written = []
    for lld in BOTH:
        said = ld(program, "-e", "main", "-o", tmp_path / "out%", *lld, "--cref",
                  f"--startup-profile={profile}", f"-Map={tmp_path / 'map'}",
                  f"--dependency-file={folder / 'deps'}", f"--front-report={folder / 'report'}")
        written.append([said.stdout, *(p.read_text() for p in (tmp_path / "map", folder / "deps"))])
        assert {path.name for path in folder.iterdir()} == {"deps", "report"}
    assert written[0] == written[1]
    assert "a.o:(.text.main)" in written[0][1]
    assert r"a\ $$1\ \#\ b.startup" in written[0][2]


@pytest.mark.parametrize("option", ["-Map", "--time-trace"])
def test_a_failed_link(tmp_path, program, profile, option):
    """Whether too few names are found or a text cannot be written, the previous output stays."""
    (tmp_path / "full").symlink_to("/dev/full")
    out = tmp_path / "out"
    out.write_text("precious")
    before = sorted(tmp_path.iterdir())
    arguments = (program, "-e", "main", f"--startup-profile={profile}", BY_LLD, "-o", out)
    said = ld(*arguments, f"{option}={tmp_path / 'full'}", code=2).stderr
    assert f"{tmp_path / 'full'}: No space left on device" in said
    write_profile(tmp_path, "main", "gone1", "gone2")
    assert "1 of 3 names found" in ld(*arguments, code=1).stderr
    assert out.read_text() == "precious" and sorted(tmp_path.iterdir()) == before


def test_messages(tmp_path, profile):
    """Errors name sections as they are, and come once, with the linker's exit status."""
    text = '.section .text.main,"ax"\n.globl main\nmain: call gone\n'
    arguments = (compile_text(tmp_path, "a.s", text), "-o", tmp_path / "out", "-e", "main", "-z",
                 "bad-option", f"--startup-profile={profile}")
    embedded, other = (ld(*arguments, *lld, code=1).stderr.splitlines() for lld in BOTH)
    assert [line.replace("ld.lld: ", "ld.frontload: ") for line in other] == [
        line for line in embedded if "names found" not in line]
    said = "\n".join(other)
    assert "undefined symbol: gone" in said and "a.o:(.text.main+" in said
    assert "bad-option" in said


def test_an_object_that_is_also_data(tmp_path):
    """Its bytes come into the output as they are, so its sections keep their place."""
    one = compile_text(tmp_path, "one.c", "int one(void) { return 1; }\n")
    program = compile_text(tmp_path, "b.c", "int one(void);\nint main(void) { return one(); }\n")
    linked = bare_front(tmp_path, program, one, "--format=binary", one, "--format=default", BY_LLD,
                        entries=("main", "one"))
    assert one.read_bytes() in linked.path.read_bytes()
    assert linked.image.section_of("main") == ".text.front"
    assert linked.image.section_of("one") == ".text" and linked.report["kept"] == 1


def test_without_a_profile(tmp_path, program, profile):
    """It is the other linker, to the byte; as it is for a link to an object."""
    lld = other_lld("19")
    for flags in ([], ["-r"]):
        ld(*flags, program, "-e", "main", "-o", tmp_path / "ours", f"--lld={lld}")
        check_run(lld, *flags, program, "-e", "main", "-o", tmp_path / "theirs")
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
    assert "LLD 19" in ld(f"--lld={lld}", "--version", f"--startup-profile={profile}").stdout
