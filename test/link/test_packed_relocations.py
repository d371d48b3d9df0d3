"""Relative relocations are packed with a profile, unless the command line or the libc says no."""

import abilities
import pytest
from linking import LD_LLD, Image, bare_front, check_run, compile_text, front, ld, write_profile
from places import BUILD, LLVM

PROGRAM = """
int puts(const char *);
static int numbers[64];
int *hot_pointers[] = {&numbers[1], &numbers[2], &numbers[3], &numbers[63]};
int main(int argc, char **argv) { return puts("started") < 0 || hot_pointers[argc] == 0; }
"""
NEEDED = "GLIBC_ABI_DT_RELR"
GLIBC_2_35 = "GLIBC_2.2.5 { global: puts; };"
GLIBC_2_36 = GLIBC_2_35 + f" {NEEDED} {{ }};"
TOLD = ("; needs glibc 2.36 or newer, for packed relocations (without them: "
        "-z nopack-relative-relocs)")


def is_packed(path) -> bool:
    return ".relr.dyn" in Image(path).sections


def needs_new_glibc(path) -> bool:
    return NEEDED in check_run(LLVM / "llvm-readelf", "-V", path)


@pytest.fixture
def program(tmp_path):
    return compile_text(tmp_path, "a.c", PROGRAM, "-fPIC")


@pytest.fixture
def libc(tmp_path):
    """libc(versions): makes a C library of these versions, in a sysroot; returns its path."""

    def libc(versions: str):
        folder = tmp_path / "root" / "lib"
        folder.mkdir(parents=True)
        stub = compile_text(tmp_path, "stub.c", "int puts(const char *s) { return 0; }", "-fPIC")
        check_run("ar", "rcs", folder / "libc.a", stub)
        (folder / "versions").write_text(versions)
        check_run(LD_LLD, "-shared", "-soname", "libc.so.6", "--version-script",
                  folder / "versions", stub, "-o", folder / "libc.so.6")
        (folder / "libc.so").write_text("/* GNU ld script */\nGROUP (\t/lib/libc.so.6\n"
                                        "AS_NEEDED ( /lib/libc.so.6 ) )\n")
        return folder / "libc.so.6"

    return libc


@pytest.mark.parametrize("flags", [["-shared"], ["-pie", "-Wl,-z,now"], ["gcc", "-pie"]],
                         ids=" ".join)
def test_programs_for_a_new_glibc_are_packed(tmp_path, program, flags):
    """By default; an older glibc refuses them, by a version that they need. They run here. The
    command line of gcc names the libc in other words than clang's."""
    abilities.need("packed-relocations")
    if flags[0] == "gcc":
        out, profile = tmp_path / "out", write_profile(tmp_path, "main")
        check_run("gcc", f"-B{BUILD / 'lib' / 'frontload' / 'gcc'}", "-fuse-ld=lld", "-pie",
                  program, "-o", out, f"-Wl,--startup-profile={profile},--front-always")
    else:
        out = front(tmp_path, program, *flags).path
    assert is_packed(out) and needs_new_glibc(out)
    assert "-shared" in flags or check_run(out) == "started\n"


@pytest.mark.parametrize("flags, packed, needed", [
    # Who says how relocations are packed gets what they say.
    (["-pie", "-Wl,-z,nopack-relative-relocs"], False, False),
    (["-pie", "-Wl,-znopack-relative-relocs"], False, False),
    (["-pie", "-Wl,--pack-dyn-relocs=none"], False, False),
    (["-pie", "-Wl,--pack-dyn-relocs=relr"], True, False),
    # Fixed addresses, static programs, and links without a C library have nothing to pack.
    (["-no-pie"], False, False), (["-static"], False, False), (["-static-pie"], False, False),
    (["-nostdlib", "-shared"], False, False), (["-pie", "-Wl,-no-pie"], False, False)])
def test_the_command_line_decides(tmp_path, program, flags, packed, needed):
    out = front(tmp_path, program, *flags).path
    assert (is_packed(out), needs_new_glibc(out)) == (packed, needed)


@pytest.mark.parametrize("versions, packed", [(GLIBC_2_36, True), (GLIBC_2_35, False),
                                              ("{ global: *; };", False)])
@pytest.mark.parametrize("named", [
    ["--sysroot={root}", "-L{root}/lib", "-lc"], ["--sysroot", "{root}", "-L=/lib", "--library=c"],
    ["-L", "{root}/lib", "-l:libc.so.6"], ["{root}/lib/libc.so.6"],
    ["--library-path={root}/lib", "-Bstatic", "-Bdynamic", "-l", ":libc.so.6"],
    ["--sysroot={root}", "-L{root}/lib", "--push-state", "-Bstatic", "--pop-state", "-lc"]])
def test_the_libc_of_the_link_decides(tmp_path, program, libc, versions, packed, named):
    """However it is named, it is the libc that the output is linked with that has to know."""
    root = libc(versions).parent.parent
    out = bare_front(tmp_path, program, "-pie", *(flag.format(root=root) for flag in named)).path
    assert is_packed(out) == needs_new_glibc(out) == packed


@pytest.mark.parametrize("flags, packed, told", [
    (["-pie"], True, TOLD), (["--Bshareable"], True, TOLD), (["-pie", "--no-pie"], False, ""),
    # This takes libc.a, even if libc.so lies next to it.
    (["-pie", "-Bstatic"], False, ""), (["-pie", "-z", "pack-relative-relocs"], True, "")])
def test_what_nobody_asked_for_is_told(tmp_path, program, libc, flags, packed, told):
    """Once, in the line that every link says, with the option that leaves it out."""
    folder = libc(GLIBC_2_36).parent
    linked = bare_front(tmp_path, program, *flags, f"--sysroot={folder.parent}", f"-L{folder}",
                        "-lc")
    assert is_packed(linked.path) == packed
    assert linked.said.endswith(f"app.startup: 1 of 1 names found (100.0%){told}\n")


def test_a_libc_that_is_being_linked_does_not_decide(tmp_path, program, libc):
    """What an earlier link left at the output's path must not change this one."""
    output = libc(GLIBC_2_36)
    ld("-shared", "-o", output, "-soname", "libc.so.6", program,
       f"--startup-profile={write_profile(tmp_path, 'main')}")
    assert not is_packed(output)


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(100),
                                     b"GROUP ( libc.so.6 libc.so.7 )", b"GROUP ("])
def test_a_libc_that_is_none_is_left_to_lld(tmp_path, program, content):
    """A damaged or odd libc gets the message that lld has for it."""
    (tmp_path / "libc.so").write_bytes(content)
    arguments = [program, "-pie", "-e", "main", f"-L{tmp_path}", "-lc", "-o", tmp_path / "out"]
    profile = write_profile(tmp_path, "main")
    result = ld(*arguments, f"--startup-profile={profile}", code=None)
    plain = ld(*arguments, code=None)
    messages = [line for line in result.stderr.splitlines() if "names found" not in line]
    assert (result.returncode, messages) == (plain.returncode, plain.stderr.splitlines())
    assert result.returncode in (0, 1)
