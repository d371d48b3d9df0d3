"""Links that a build wants otherwise: frontload-cc leaves them as they are, and says so once."""

import pytest

MODES = ["--mode=record", "--profile=app.startup"]
NOTE = "frontload-cc: note: app: is linked without Frontload: "


def left_alone(wrapper, *words, why: str):
    for mode in MODES:
        result = wrapper.run(mode, *words)
        assert result.stdout.splitlines() == list(words)
        assert result.stderr.startswith(NOTE) and why in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("flag", ["-fuse-ld=mold", "-fuse-ld=bfd", "-fuse-ld=gold",
                                  "-fuse-ld=/opt/bin/ld.lld", "--ld-path=/opt/bin/ld.lld"])
def test_another_linker(wrapper, flag):
    """What is chosen by the build is not chosen again."""
    left_alone(wrapper, "clang", flag, "a.o", "-o", "app", why=f"{flag} is another linker")


@pytest.mark.parametrize("separate", [False, True])
def test_a_folder_with_another_linker(wrapper, separate):
    folder = wrapper.folder / "mold"
    folder.mkdir()
    (folder / "ld").write_text("")
    (folder / "ld").chmod(0o755)
    flag = ["-B", str(folder)] if separate else [f"-B{folder}"]
    left_alone(wrapper, "gcc", *flag, "a.o", "-o", "app", why="has another linker")


def test_ld_frontload_may_be_asked_for(wrapper, linker_flags):
    """Whoever does both gets one."""
    words = ["clang", "--ld-path=/x/bin/ld.frontload", "a.o", "-o", "app"]
    assert wrapper.added(MODES[1], *words)[:2] == linker_flags


@pytest.mark.parametrize("flags", ["-Wl,-T,x.lds", "-T x.lds", "-Tx.lds", "-Wl,--script=x.lds",
                                   "-Xlinker -T -Xlinker x.lds", "-Wl,-dT,x.lds",
                                   "-Wl,--default-script=x.lds"])
def test_a_linker_script(wrapper, flags):
    left_alone(wrapper, "gcc", *flags.split(), "a.o", "-o", "app", why="a linker script decides")


def test_a_linker_script_among_the_inputs(wrapper, linker_flags):
    """By what it says: one that only names files is no trouble, nor is an object."""
    script = wrapper.folder / "flash.ld"
    script.write_text("SECTIONS { .mine : { *(.mine) } } INSERT AFTER .data;\n")
    left_alone(wrapper, "gcc", "a.o", "flash.ld", "-o", "app", why="a linker script decides")
    for text in (b"INPUT(a.o)\n", b"\x7fELF\2\1\1\0 SECTIONS", b"!<arch>\n SECTIONS", b"SEC"):
        script.write_bytes(text)
        assert wrapper.added(MODES[1], "gcc", "a.o", "flash.ld", "-o", "app")[:2] == linker_flags


@pytest.mark.parametrize("flags", ["-Wl,--symbol-ordering-file=x", "-Wl,--symbol-ordering-file,x",
                                   "-N", "-Wl,--omagic", "-Wl,--unique", "-Wl,-Ttext=0x1000",
                                   "-Ttext 0x1000", "-Wl,--section-start=.x=1",
                                   "-z nosectionheader", "-Wl,-z,nosectionheader",
                                   "-Wl,--shuffle-sections=*=1"])
def test_options_that_decide_the_layout(wrapper, flags):
    """ld.frontload would refuse them, and the build would break."""
    left_alone(wrapper, "clang", *flags.split(), "a.o", "-o", "app", why="")


@pytest.mark.parametrize("flag", ["-z now", "-Wl,-z,relro,-z,now", "-Wl,--version-script=x.map",
                                  "-Wl,--bp-startup-sort=function", "-Wl,--gc-sections",
                                  "-Wl,--build-id", "-Wl,-rpath,/x"])
def test_others_do_not(wrapper, linker_flags, flag):
    assert wrapper.added(MODES[1], "gcc", *flag.split(), "a.o", "-o", "app")[:2] == linker_flags


def test_gcc_s_link_time_optimization(wrapper, linker_flags):
    """It is a plugin that lld cannot load; clang's is in lld."""
    for flag in ("-flto", "-flto=auto"):
        left_alone(wrapper, "gcc", flag, "a.o", "-o", "app", why="gcc's -flto")
        assert wrapper.added(MODES[1], "clang", flag, "a.o", "-o", "app")[:2] == linker_flags


@pytest.mark.parametrize("words", ["x86_64-w64-mingw32-gcc", "clang --target=wasm32-wasi",
                                   "clang -target arm64-apple-macos"])
def test_targets_without_elf(wrapper, words):
    wrapper.fake(words.split()[0])
    left_alone(wrapper, *words.split(), "a.o", "-o", "app", why="does not use ELF files")


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
