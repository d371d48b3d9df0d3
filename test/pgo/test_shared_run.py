"""One training run gives the compiler's profile and the startup profile, and both fit the final
build. Cold parts of that are known by what its own start enters: the cheap third step."""

import os
import re
import shutil
from pathlib import Path

import abilities
import pytest
from frontload.profile.instrumented import is_left_out
from frontload.profile.startup_profile import Name
from linking import Image
from places import BUILD, LLVM
from shared_run import TOOL, SharedRun, do, frontload, function_names, run_once

PAGE = Path(__file__).parents[2] / "docs/how-to/pgo.md"
START = ["main", "make_table", "read_arguments", "check"]


@pytest.fixture(scope="module", params=["gcc", "clang"])
def shared(request, tmp_path_factory) -> SharedRun:
    """Both profiles, from one run of `tool late one`, tool.o compiled with the PGO profile, and the
    final program `tool`."""
    abilities.need("ptrace")
    run = run_once(tmp_path_factory.mktemp(request.param), request.param, "late", "one")
    run.compile(*run.use_flags, "-Werror")
    run.link_final("tool", run.startup)
    return run


def cold_parts(image) -> set[str]:
    return {name for name in image.symbols if ".cold" in name and not name.startswith("_")}


def test_the_startup_profile_is_that_of_the_program(shared):
    """It has the program's functions in first-touch order, and none of those that count."""
    names = function_names(shared.startup)
    assert [name for name in names if name in START] == START
    rest = {name for name in names if name not in START} - {"look_up", "late_work", "late_sum"}
    ordinary = {"_start", "_init", "_fini", "frame_dummy", "register_tm_clones", "atexit",
                "deregister_tm_clones", "__do_global_dtors_aux"}
    assert rest <= ordinary, rest - ordinary


def test_both_profiles_fit_the_final_program(shared):
    """What did not run is cold, what did is not. What the program enters at its start is in its
    front, but for one name in five: parts that the compiler took for cold with the profile, though
    they run once. Those are not in the front, but follow it."""
    image = Image(shared.folder / "tool")
    assert image.section_of("never") == ".text.unlikely"
    assert image.sections_of(*START) == {".text.front"}
    assert "cold-parts unknown" in shared.startup.read_text().splitlines()
    parts = cold_parts(image)
    assert "check.cold" in parts and image.sections_of(*parts) == {".text"}
    last = max(image.symbols[name].address for name in parts)
    assert image.code_end <= last < image.symbols["never"].address
    exact = shared.record_final("tool", "late", "one")
    frontload("check", shared.folder / "tool", "--profile", exact, "--min-coverage", "80")


def test_a_cold_part_that_a_start_enters_is_in_the_front(shared):
    """What was trained is not all that users do: recorded once more, the final program enters a
    part that the compiler took for cold, and has it in its front after one more link."""
    again = shared.record_final("tool", "one", "two", "three", "four")
    entered = {name for name in function_names(again) if name.endswith(".cold")}
    assert "check.cold" in entered
    image = shared.link_final("tool.again", again)
    assert image.is_ordered("check", "check.cold")
    parts = cold_parts(image)
    assert entered == {name for name in parts if image.section_of(name) == ".text.front"}
    assert image.sections_of(*parts - entered) <= {".text.unlikely", ".text.split"}
    assert image.section_of("never") == ".text.unlikely"


@pytest.mark.parametrize("lto", ["-flto=thin", "-flto"])
def test_a_front_of_what_the_link_compiles(tmp_path, lto):
    """Both profiles of one run serve a link that compiles; recorded once more, that program has all
    that its start enters in its front, cold parts included."""
    abilities.need("ptrace")
    run = run_once(tmp_path, "clang", "late", "one", flags=(lto,))
    run.compile(*run.use_flags, lto)
    more = (lto, "-fsplit-machine-functions", "-O2")
    assert run.link_final("tool", run.startup, *more).section_of("check.cold") == ".text"
    again = run.record_final("tool", "one", "two", "three", "four")
    image = run.link_final("tool.again", again, *more)
    assert image.sections_of("main", "make_table", "check", "check.cold") == {".text.front"}


@pytest.mark.parametrize("compiler", ["clang", "gcc"])
def test_the_recipe(tmp_path, compiler):
    """The commands of the page do what it says, in a folder with a space: from a source file to a
    program with PGO and a front."""
    abilities.need("ptrace")
    folder = tmp_path / "a folder"
    folder.mkdir()
    shutil.copy(TOOL, folder / "app.c")
    section = PAGE.read_text().split(f"### {compiler}\n")[1]
    text = re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1]
    (tmp_path / "frontload").symlink_to(BUILD)  # the path of the build may have a space
    do("sh", "-euc", text.replace("/path/to/frontload/", f"{tmp_path}/frontload/"), cwd=folder,
       env={**os.environ, "PATH": f"{BUILD}/bin:{LLVM}:{os.environ['PATH']}"})
    image = Image(folder / "app")
    assert image.sections_of("main", "check", "make_table") == {".text.front"}
    assert image.section_of("never") == ".text.unlikely"
    names = function_names(folder / "app.startup")
    assert "main" in names and not any("gcov" in name or "__llvm" in name for name in names)


@pytest.mark.parametrize(("kind", "name", "file", "is_out"), [
    # Whatever its name is, if a map says that it is of a runtime.
    ("data", "list_sizes.1", "libgcov.a(_gcov.o)", True),
    ("data", "list_sizes.1", "libclang_rt.profile-x86_64.a(InstrProfilingFile.c.o)", True),
    ("data", "list_sizes.1", "libmine.a(_gcov.o)", False),
    # By their names: all of the compilers' runtimes, and nothing else.
    *((kind, name, "", is_out) for kind, is_out, names in [
        ("function", True, "__gcov_init _sub_I_00100_0 _GLOBAL__sub_I_00100_0_x.cpp lprofWriteData "
         "writeFileWithoutReturn work.cold work.cold.3"),
        ("data", True, "__gcov0.main __profc_main VPMergeHook __llvm_prf_nm"),
        ("section", True, ".bss.__gcov0.main .data.__gcov_.main .data.rel..LPBX0 "
         ".data.rel.local..LPBX1"),
        ("function", False, "main work.coldest gcovered"), ("data", False, "writeFile profits"),
        ("section", False, ".rodata.main"), ("string", False, "__gcov_")]
      for name in names.split())])
def test_what_only_collecting_needs(kind, name, file, is_out):
    assert is_left_out(Name(kind, "text", name.encode(), file.encode())) == is_out
