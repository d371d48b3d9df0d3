"""examples/meson: the option -Dfrontload."""

import shutil

import pytest
from conftest import needs

_PROFILE = "startup/abacus.startup"


@pytest.fixture(scope="module")
def trained(project):
    """The example with its profile written, in the mode record."""
    needs("meson", "meson")
    needs("ninja", "ninja-build")
    meson = project("meson")
    meson.run("meson", "setup", "build", "-Dfrontload=record")
    meson.run("ninja", "-C", "build", "frontload-train")
    return meson


@pytest.fixture
def untrained(project):
    needs("meson", "meson")
    needs("ninja", "ninja-build")
    return project("meson")


def test_from_record_to_use_links_a_front_and_compiles_nothing(trained):
    trained.run("meson", "configure", "build", "-Dfrontload=use")
    again = trained.run("ninja", "-C", "build").stdout
    assert "Linking target abacus" in again and "Compiling" not in again
    trained.has_front("build/abacus", _PROFILE)
    assert trained.run("build/abacus", "1+2*3").stdout == "1+2*3 = 7\n"


def test_without_changes_nothing_is_done_and_a_changed_profile_links(trained, untrained):
    shutil.copy(trained.folder / _PROFILE, untrained.folder / _PROFILE)
    untrained.run("meson", "setup", "build", "-Dfrontload=use")
    untrained.run("ninja", "-C", "build")
    assert "no work to do" in untrained.run("ninja", "-C", "build").stdout
    untrained.change(_PROFILE)
    again = untrained.run("ninja", "-C", "build").stdout
    assert "Linking target abacus" in again and "Compiling" not in again


def test_clang_takes_the_profile_of_gcc(trained, untrained, llvm):
    shutil.copy(trained.folder / _PROFILE, untrained.folder / _PROFILE)
    untrained.environment["CC"] = str(llvm / "clang")
    untrained.run("meson", "setup", "build", "-Dfrontload=use")
    untrained.run("ninja", "-C", "build")
    untrained.has_front("build/abacus", _PROFILE)


def test_off_builds_plainly(untrained):
    untrained.run("meson", "setup", "build")
    untrained.run("ninja", "-C", "build")
    assert "0 wrong" in untrained.run("build/abacus", "--test").stdout
    assert "LLD" not in untrained.run("readelf", "-p", ".comment", "build/abacus").stdout


def test_without_a_profile_use_warns_and_links_plainly(untrained):
    said = untrained.run("meson", "setup", "build", "-Dfrontload=use").stdout
    assert "WARNING: no startup profile" in said
    untrained.run("ninja", "-C", "build")
    assert untrained.run("build/abacus", "7/2").stdout == "7/2 = 3.5\n"


def test_a_project_of_cpp_alone_has_a_front_too(untrained):
    build = untrained.folder / "meson.build"
    text = build.read_text().replace("c_std=c11", "cpp_std=c++17").replace(".c'", ".cpp'")
    build.write_text(text.replace("'c'", "'cpp'"))
    for source in (untrained.folder / "src").glob("*.c"):
        source.rename(source.with_suffix(".cpp"))
    untrained.run("meson", "setup", "build", "-Dfrontload=record")
    untrained.run("ninja", "-C", "build", "frontload-train")
    untrained.run("meson", "configure", "build", "-Dfrontload=use")
    untrained.run("ninja", "-C", "build")
    untrained.has_front("build/abacus", _PROFILE)


def test_a_wrapped_compiler_needs_no_change_in_the_project(trained, untrained):
    shutil.copy(trained.folder / _PROFILE, untrained.folder / _PROFILE)
    (untrained.folder / "frontload.ini").write_text(
        "[binaries]\nc = ['frontload-cc', '--mode=use', "
        f"'--profile-dir={untrained.folder}/startup', 'gcc']\n")
    untrained.run("meson", "setup", "build", "--native-file", "frontload.ini")
    untrained.run("ninja", "-C", "build")
    untrained.has_front("build/abacus", _PROFILE)
    assert "no work to do" in untrained.run("ninja", "-C", "build").stdout
