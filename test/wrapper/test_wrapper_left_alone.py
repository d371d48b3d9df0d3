"""Links that a build wants otherwise: frontload-cc leaves them as they are, and says so once."""

import pytest

USE = "--profile=app.startup"
NOTE = "frontload-cc: note: app: is linked without Frontload: "
OTHER, SCRIPT = "is another linker", "a linker script decides"


def left_alone(wrapper, *words, why: str):
    words = [*words, "a.o", "-o", "app"]
    for mode in ("--mode=record", USE):
        result = wrapper.run(mode, *words)
        assert result.stdout.splitlines() == words
        assert result.stderr.startswith(NOTE) and why in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(("words", "why"), [
    # What is chosen by the build is not chosen again.
    *((f"clang {flag}", f"{flag} {OTHER}") for flag in (
        "-fuse-ld=mold", "-fuse-ld=bfd", "-fuse-ld=/opt/bin/ld.lld", "--ld-path=/opt/bin/ld.lld")),
    *((f"gcc {flags}", SCRIPT) for flags in (
        "-Wl,-T,x.lds", "-T x.lds", "-Tx.lds", "-Wl,--script=x.lds", "-Xlinker -T -Xlinker x.lds",
        "-Wl,-dT,x.lds", "-Wl,--default-script=x.lds")),
    # ld.frontload would refuse them, and the build would break.
    *((f"clang {flags}", "") for flags in (
        "-Wl,--symbol-ordering-file=x", "-Wl,--symbol-ordering-file,x", "-N", "-Wl,--omagic",
        "-Wl,--unique", "-Wl,-Ttext=0x1000", "-Ttext 0x1000", "-Wl,--section-start=.x=1",
        "-z nosectionheader", "-Wl,-z,nosectionheader", "-Wl,--shuffle-sections=*=1")),
    # lld does not know them; GNU ld, which the build counts on, does.
    *((f"gcc -Wl,{flag}", f"lld does not know {flag}") for flag in (
        "--default-symver", "-default-symver", "--hash-size=7", "--no-warn-rwx-segments")),
    # It is a plugin that lld cannot load; clang's is in lld.
    ("gcc -flto", "gcc's -flto"), ("gcc -flto=auto", "gcc's -flto"),
    *((words, "does not use ELF files") for words in (
        "x86_64-w64-mingw32-gcc", "clang --target=wasm32-wasi", "clang -target arm64-apple-macos")),
])
def test_links_that_are_left_alone(wrapper, words, why):
    """Another linker, a linker script, options that decide the layout, gcc's link-time
    optimization, and targets without ELF."""
    wrapper.fake(words.split()[0])
    left_alone(wrapper, *words.split(), why=why)


@pytest.mark.parametrize("separate", [False, True])
def test_a_folder_with_another_linker(wrapper, separate):
    folder = wrapper.fake("mold/ld").parent
    left_alone(wrapper, "gcc", *["-B", str(folder)] if separate else [f"-B{folder}"],
               why="has another linker")


def test_a_linker_script_among_the_inputs(wrapper, linker_flags):
    """By what it says: one that only names files is no trouble, nor is an object."""
    script = wrapper.folder / "flash.ld"
    script.write_text("SECTIONS { .mine : { *(.mine) } } INSERT AFTER .data;\n")
    left_alone(wrapper, "gcc", "flash.ld", why=SCRIPT)
    for text in (b"INPUT(a.o)\n", b"\x7fELF\2\1\1\0 SECTIONS", b"!<arch>\n SECTIONS", b"SEC"):
        script.write_bytes(text)
        assert wrapper.added(USE, "gcc", "a.o", "flash.ld", "-o", "app")[:2] == linker_flags[:2]


@pytest.mark.parametrize("words", [
    "gcc -z now", "gcc -Wl,-z,relro,-z,now", "gcc -Wl,--version-script=x.map",
    "gcc -Wl,--bp-startup-sort=function", "gcc -Wl,--gc-sections", "gcc -Wl,--build-id",
    "gcc -Wl,-rpath,/x", "clang -flto", "clang --ld-path=/x/bin/ld.frontload"])
def test_others_are_not(wrapper, linker_flags, words):
    """Also where the build asks for ld.frontload itself."""
    assert wrapper.added(USE, *words.split(), "a.o", "-o", "app")[:2] == linker_flags[:2]


def test_nothing_is_said_where_nothing_is_lost(wrapper):
    """Of the programs of a build few have a profile."""
    (wrapper.folder / "app.startup").write_text("")
    words = ["--profile-dir=.", "gcc", "-fuse-ld=bfd", "a.o", "-o"]
    assert wrapper.run(*words, "app").stderr.startswith(NOTE)
    assert wrapper.run(*words, "tool").stderr == ""
    assert wrapper.run("--mode=record", "gcc", "-fuse-ld=bfd", "conftest.c").stderr == ""


def test_code_gets_its_sections_all_the_same(wrapper):
    """It may come into another link, too."""
    assert wrapper.added("--mode=record", "gcc", "-fuse-ld=bfd", "a.c", "-o", "app",
                         note=NOTE) == ["-ffunction-sections", "-fdata-sections"]
