"""The recipe with hooks (docs/how-to/by-hand.md) at the first try: the program is built with
-finstrument-functions and run, and the profile serves the build without hooks, which has inlined
most of what the hooks recorded."""

from pathlib import Path

import pytest
from abilities import needs
from compiled import compiled
from consumers import LD_FRONTLOAD, Job
from in_process import frontload
from linking import COMPILERS, SECTION_FLAGS
from pairs import chosen
from places import BUILD
from programs import SOURCES, Program, call

C, CXX = SOURCES.parent.parent / "pgo/programs/tool.c", SOURCES / "words/words.cpp"
LANGUAGES = {"C": (C, "-std=gnu17"), "C++17": (CXX, "-std=c++17"), "C++20": (CXX, "-std=c++20")}
MODES = {**{level: (level,) for level in ("-O0", "-O1", "-O2", "-O3")}, "LTO": ("-O2", "-flto"),
         "gc": ("-O2", "-Wl,--gc-sections")}


def build(compiler: str, language: str, mode: str, *hooks: str) -> Program:
    source, standard = LANGUAGES[language]
    flags = standard, "-g0", *SECTION_FLAGS, *MODES[mode], *hooks
    driver = COMPILERS[compiler][source is CXX]
    made = compiled(driver, *[flag for flag in flags if not flag.startswith("-Wl")], "-c",
                    source.name, output="app.o", sources={source.name: source})
    return Program(compiler, (driver, *flags), (made,), is_lto=mode == "LTO")


def recorded(program: Program, folder: Path) -> Path:
    """The profile of a run of a program with hooks."""
    app, library = folder / "app", BUILD / "lib/libfrontload-rt.a"
    program.link(app, "-Wl,-u,__cyg_profile_func_enter", library)
    frontload("record", "--with", "runtime", "-o", folder / "traces", "--", app)
    frontload("profile", folder / "traces", "-o", folder / "app.startup")
    return folder / "app.startup"


@pytest.mark.parametrize(("compiler", "language", "mode"), chosen(
    (compiler, language, mode) for compiler in COMPILERS for language in LANGUAGES
    for mode in MODES))
def test_the_recipe_with_hooks_works_at_the_first_try(tmp_path, compiler, language, mode):
    profile = recorded(build(compiler, language, mode, "-finstrument-functions"), tmp_path)
    program = build(compiler, language, mode)
    made, plain = tmp_path / "made", tmp_path / "plain"
    if compiler == "gcc" and program.is_lto:  # which no lld reads
        program.link(plain, "-fuse-ld=bfd")
        frontload("order", profile, "--linker", "bfd", "--binary", plain, "-o", tmp_path / "script")
        program.link(made, "-fuse-ld=bfd", f"-Wl,-T,{tmp_path / 'script'}")
    else:
        LD_FRONTLOAD.link(Job(program, profile, made))
        frontload("check", made, "--profile", profile, "--require-front")
    assert call(made).stdout == call(tmp_path / "app").stdout


@needs("ptrace")
@pytest.mark.parametrize(("inlines", "suffices"), [((), True), (("-fno-inline",), False)])
def test_functions_that_were_also_recorded_without_hooks_count(tmp_path, inlines, suffices):
    """Of a program without inlining, a recorder beside it saw functions that exist: that they are
    gone is a loss."""
    profile = recorded(build("gcc", "C++17", "-O2", "-finstrument-functions"), tmp_path)
    program, folder = build("gcc", "C++17", "-O2"), tmp_path / "beside"
    folder.mkdir()
    build("gcc", "C++17", "-O2", *inlines).link(folder / "app")
    frontload("record", "-o", folder / "traces", "--", folder / "app")
    frontload("profile", folder / "traces", profile, "-o", folder / "app.startup")
    link = Job(program, folder / "app.startup", tmp_path / "made")
    if suffices:
        assert LD_FRONTLOAD.link(link) > 0
    else:
        with pytest.raises(AssertionError, match=r"names found \([1-4]?\d\.\d%\)"):
            LD_FRONTLOAD.link(link)
