"""One training run gives the compiler's profile and the startup profile, and both fit the final
build."""

import shutil

import pytest
from frontload.profile.instrumented import is_left_out
from frontload.profile.startup_profile import Name
from shared_run import TOOL, SharedRun, frontload, function_names

pytest_plugins = ["shared_fixture"]
START = ["main", "make_table", "read_arguments", "check"]


def test_the_startup_profile_is_that_of_the_program(shared):
    """It has the program's functions in first-touch order, and none of those that count."""
    names = function_names(shared.startup)
    assert [name for name in names if name in START] == START
    rest = {name for name in names if name not in START} - {"look_up", "late_work", "late_sum"}
    ordinary = {"_start", "_init", "_fini", "frame_dummy", "register_tm_clones", "atexit",
                "deregister_tm_clones", "__do_global_dtors_aux"}
    assert rest <= ordinary, rest - ordinary


def test_the_profile_says_what_was_left_out(shared):
    """Making it again, one is told, so that a name that is missing can be explained."""
    said = frontload("profile", shared.folder / "traces", "-o", shared.folder / "again").stderr
    assert "left out what only that build has" in said


def test_the_compilers_profile_is_that_of_the_run(shared):
    """The final object is compiled with it: what did not run is cold, what did is not."""
    image = shared.link_final("tool", shared.startup)
    assert image.section_of("never") == ".text.unlikely"
    assert {image.section_of(name) for name in START} == {".text.front"}


def test_the_startup_profile_fits_the_final_program(shared):
    """What the final program enters at its start is in its front, but for one name in five: parts
    that the compiler took for cold with the profile, though they run once."""
    shared.link_final("tool.fits", shared.startup)
    exact = shared.record_final("tool.fits", "late", "one")
    frontload("check", shared.folder / "tool.fits", "--profile", exact, "--min-coverage", "80")


def test_a_stale_pgo_profile_leaves_the_front(shared, tmp_path):
    """Sources change after the training: what no longer fits is compiled without its counts, and
    the front is as it was."""
    text = TOOL.read_text().replace("x %= 4;", "if (x & 1) x %= 4; else x = x % 7 ? 1 : 2;")
    (tmp_path / "changed.c").write_text(text)
    stale = SharedRun(tmp_path, shared.compiler)
    for name in ("tool.profdata", "counts", "tool.startup"):
        if (shared.folder / name).is_dir():
            shutil.copytree(shared.folder / name, tmp_path / name)
            for file in (tmp_path / name).glob("*.gcda"):
                file.rename(file.with_name(file.name.replace(
                    str(shared.folder).replace("/", "#"), str(tmp_path).replace("/", "#"))))
        elif (shared.folder / name).exists():
            shutil.copy(shared.folder / name, tmp_path / name)
    told = stale.compile(*stale.use_flags, "-Wno-error=coverage-mismatch",
                         source=tmp_path / "changed.c").stderr
    assert "mismatch" in told or "does not match" in told
    image = stale.link_final("tool", stale.startup)
    assert {image.section_of(name) for name in START} == {".text.front"}
    assert image.section_of("never") != ".text.front"
    exact = stale.record_final("tool", "late", "one")
    frontload("check", tmp_path / "tool", "--profile", exact, "--min-coverage", "80")


def test_what_a_map_says_to_be_of_a_runtime():
    """Whatever its name is."""
    for archive, is_out in (("libgcov.a(_gcov.o)", True), ("libmine.a(_gcov.o)", False),
                            ("libclang_rt.profile-x86_64.a(InstrProfilingFile.c.o)", True)):
        assert is_left_out(Name("data", "bss", b"list_sizes.1", archive.encode())) == is_out


@pytest.mark.parametrize(("kind", "name", "is_out"), [
    ("function", "__gcov_init", True), ("function", "_sub_I_00100_0", True),
    ("function", "_GLOBAL__sub_I_00100_0_x.cpp", True), ("function", "lprofWriteData", True),
    ("function", "writeFileWithoutReturn", True), ("function", "work.cold", True),
    ("function", "work.cold.3", True), ("data", "__gcov0.main", True),
    ("data", "__profc_main", True), ("data", "VPMergeHook", True), ("data", "__llvm_prf_nm", True),
    ("section", ".bss.__gcov0.main", True), ("section", ".data.__gcov_.main", True),
    ("section", ".data.rel..LPBX0", True), ("section", ".data.rel.local..LPBX1", True),
    ("function", "main", False), ("function", "work.coldest", False),
    ("function", "gcovered", False), ("data", "writeFile", False),
    ("data", "profits", False), ("section", ".rodata.main", False), ("string", "__gcov_", False),
])
def test_what_only_collecting_needs(kind, name, is_out):
    """By their names: all of the compilers' runtimes, and nothing else."""
    assert is_left_out(Name(kind, "text", name.encode(), b"")) == is_out
