"""Relative relocations are packed with a profile, unless the command line or the libc says no."""

import pytest
from linking import (
    ALWAYS,
    BUILD,
    LD_LLD,
    LLVM,
    Image,
    check_run,
    compile_text,
    ld,
    link,
    write_profile,
)

PROGRAM = """
int puts(const char *);
static int numbers[64];
int *hot_pointers[] = {&numbers[1], &numbers[2], &numbers[3], &numbers[63]};
int main(int argc, char **argv) { return puts("started") < 0 || hot_pointers[argc] == 0; }
"""
NEEDED = "GLIBC_ABI_DT_RELR"
GLIBC_2_35 = "GLIBC_2.2.5 { global: puts; };"
GLIBC_2_36 = GLIBC_2_35 + f" {NEEDED} {{ }};"


def is_packed(path) -> bool:
    return ".relr.dyn" in Image(path).sections


def needs_new_glibc(path) -> bool:
    return NEEDED in check_run(LLVM / "llvm-readelf", "-V", path)


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", PROGRAM, "-fPIC")


@pytest.fixture
def profile(tmp_path):
    return write_profile(tmp_path, "main")


@pytest.fixture
def libc(tmp_path):
    """libc(versions): makes a C library of these versions, in a sysroot; returns its path."""

    def libc(versions: str):
        folder = tmp_path / "root" / "lib"
        folder.mkdir(parents=True)
        stub = compile_text(tmp_path, "stub.c", "int puts(const char *s) { return 0; }", "-fPIC")
        (folder / "versions").write_text(versions)
        check_run(LD_LLD, "-shared", "-soname", "libc.so.6", "--version-script",
                  folder / "versions", stub, "-o", folder / "libc.so.6")
        (folder / "libc.so").write_text("/* GNU ld script */\nGROUP (\t/lib/libc.so.6\n"
                                        "AS_NEEDED ( /lib/libc.so.6 ) )\n")
        return folder / "libc.so.6"

    return libc


@pytest.mark.parametrize("flags", [["-pie"], ["-shared"], ["-pie", "-Wl,-z,now"]])
def test_programs_for_a_new_glibc_are_packed(tmp_path, program, profile, flags):
    """By default; an older glibc refuses them, by a version that they need. They run here."""
    if not needs_new_glibc(check_run("gcc", "-print-file-name=libc.so.6").strip()):
        pytest.skip("the glibc of this machine is older than 2.36")
    link(tmp_path / "out", program, *flags, profile=profile)
    assert is_packed(tmp_path / "out") and needs_new_glibc(tmp_path / "out")
    if "-pie" in flags:
        assert check_run(tmp_path / "out") == "started\n"


@pytest.mark.parametrize("flag, packed, needed", [
    ("-Wl,-z,nopack-relative-relocs", False, False), ("-Wl,-z,pack-relative-relocs", True, True),
    ("-Wl,-znopack-relative-relocs", False, False), ("-Wl,--pack-dyn-relocs=none", False, False),
    ("-Wl,--pack-dyn-relocs=relr", True, False)])
def test_the_command_line_decides(tmp_path, program, profile, flag, packed, needed):
    """Who says how relocations are packed gets what they say."""
    link(tmp_path / "out", program, "-pie", flag, profile=profile)
    assert (is_packed(tmp_path / "out"), needs_new_glibc(tmp_path / "out")) == (packed, needed)


@pytest.mark.parametrize("flags", [["-no-pie"], ["-static"], ["-static-pie"],
                                   ["-nostdlib", "-shared"], ["-pie", "-Wl,-no-pie"]])
def test_where_nothing_is_known_or_to_be_had_nothing_changes(tmp_path, program, profile, flags):
    """Fixed addresses, static programs, and links without a C library."""
    link(tmp_path / "out", program, *flags, profile=profile)
    assert not is_packed(tmp_path / "out") and not needs_new_glibc(tmp_path / "out")


@pytest.mark.parametrize("versions, packed", [(GLIBC_2_36, True), (GLIBC_2_35, False),
                                              ("{ global: *; };", False)])
@pytest.mark.parametrize("named", [
    ["--sysroot={root}", "-L{root}/lib", "-lc"], ["--sysroot", "{root}", "-L=/lib", "--library=c"],
    ["-L", "{root}/lib", "-l:libc.so.6"], ["{root}/lib/libc.so.6"],
    ["--library-path={root}/lib", "-Bstatic", "-Bdynamic", "-l", ":libc.so.6"],
    ["--sysroot={root}", "-L{root}/lib", "--push-state", "-Bstatic", "--pop-state", "-lc"]])
def test_the_libc_of_the_link_decides(tmp_path, program, profile, libc, versions, packed, named):
    """However it is named, it is the libc that the output is linked with that has to know."""
    root = libc(versions).parent.parent
    ld(program, "-o", tmp_path / "out", "-pie", "-e", "main", f"--startup-profile={profile}",
       *(flag.format(root=root) for flag in named))
    assert is_packed(tmp_path / "out") == needs_new_glibc(tmp_path / "out") == packed


@pytest.mark.parametrize("flags, packed", [
    (["-pic-executable"], True), (["--pic-executable"], True), (["--Bshareable"], True),
    (["-pie", "--no-pie"], False), (["-no-pie", "-pie"], True),
    (["--pie", "-no-pie", "--pic-executable"], True)])
def test_the_last_of_what_says_the_kind_of_output_counts(tmp_path, program, profile, libc, flags,
                                                         packed):
    """In whatever spelling: what is not relocated has nothing to pack."""
    folder = libc(GLIBC_2_36).parent
    ld(program, "-o", tmp_path / "out", *flags, "-e", "main", f"--startup-profile={profile}",
       f"--sysroot={folder.parent}", f"-L{folder}", "-lc")
    assert is_packed(tmp_path / "out") == packed


@pytest.mark.parametrize("versions, flags, is_told", [
    (GLIBC_2_36, [], True), (GLIBC_2_36, ["-z", "pack-relative-relocs"], False),
    (GLIBC_2_36, ["-z", "nopack-relative-relocs"], False), (GLIBC_2_36, ["-no-pie"], False),
    (GLIBC_2_35, [], False)])
def test_what_nobody_asked_for_is_told(tmp_path, program, profile, libc, versions, flags, is_told):
    """Once, in the line that every link says, with the option that leaves it out."""
    folder = libc(versions).parent
    result = ld(program, "-o", tmp_path / "out", "-pie", *flags, "-e", "main", f"-L{folder}",
                f"--sysroot={folder.parent}", f"--startup-profile={profile}", "-lc")
    told = ("; needs glibc 2.36 or newer, for packed relocations (without them: "
            "-z nopack-relative-relocs)" if is_told else "")
    assert result.stderr == f"ld.frontload: {profile}: 1 of 1 names found (100.0%){told}\n"


def test_an_archive_of_a_new_glibc_says_nothing(tmp_path, program, profile, libc):
    """-Bstatic -lc takes libc.a, even if libc.so lies next to it."""
    folder = libc(GLIBC_2_36).parent
    stub = compile_text(tmp_path, "stub.c", "int puts(const char *s) { return 0; }", "-fPIC")
    check_run("ar", "rcs", folder / "libc.a", stub)
    ld(program, "-o", tmp_path / "out", "-pie", "-e", "main", f"--startup-profile={profile}",
       f"--sysroot={folder.parent}", f"-L{folder}", "-Bstatic", "-lc")
    assert not is_packed(tmp_path / "out")


def test_a_libc_that_is_being_linked_does_not_decide(tmp_path, program, profile, libc):
    """What an earlier link left at the output's path must not change this one."""
    output = libc(GLIBC_2_36)
    ld("-shared", "-o", output, "-soname", "libc.so.6", program, f"--startup-profile={profile}")
    assert not is_packed(output)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(100),
                                     b"GROUP ( libc.so.6 libc.so.7 )", b"GROUP ("])
def test_a_libc_that_is_none_is_left_to_lld(tmp_path, program, profile, content):
    """A damaged or odd libc gets the message that lld has for it."""
    (tmp_path / "libc.so").write_bytes(content)
    arguments = [program, "-pie", "-e", "main", f"-L{tmp_path}", "-lc", "-o", tmp_path / "out"]
    result = ld(*arguments, f"--startup-profile={profile}", code=None)
    plain = ld(*arguments, code=None)
    messages = "".join(line for line in result.stderr.splitlines(keepends=True)
                       if "names found" not in line)
    assert (result.returncode, messages) == (plain.returncode, plain.stderr)
    assert result.returncode in (0, 1)


def test_without_a_profile_nothing_is_packed(tmp_path, program):
    """The output is ld.lld's."""
    link(tmp_path / "lld", program, "-pie", linker=LD_LLD)
    link(tmp_path / "frontload", program, "-pie")
    assert (tmp_path / "lld").read_bytes() == (tmp_path / "frontload").read_bytes()
    assert not is_packed(tmp_path / "lld")


def test_gcc_packs_too(tmp_path, program, profile):
    """Its command line names the libc in other words than clang's."""
    if not needs_new_glibc(check_run("gcc", "-print-file-name=libc.so.6").strip()):
        pytest.skip("the glibc of this machine is older than 2.36")
    check_run("gcc", f"-B{BUILD / 'lib' / 'frontload' / 'gcc'}", "-fuse-ld=lld", "-pie", program,
              "-o", tmp_path / "out", f"-Wl,--startup-profile={profile},{ALWAYS}")
    assert is_packed(tmp_path / "out") and check_run(tmp_path / "out") == "started\n"
