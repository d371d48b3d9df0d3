"""examples/meson: the option -Dfrontload."""

import shutil

import pytest
from abilities import needs

pytestmark = needs("ptrace", "program:meson", "program:ninja")
_PROFILE = "startup/abacus.startup"


@pytest.fixture(scope="module")
def trained(project):
    """The example with its profile written, in the mode record."""
    meson = project("meson")
    meson.run("meson", "setup", "build", "-Dfrontload=record")
    meson.run("ninja", "-C", "build", "frontload-train")
    return meson


@pytest.fixture
def untrained(project):
    return project("meson")


def _build(project) -> str:
    return project.run("ninja", "-C", "build").stdout


def test_from_record_to_use_links_a_front_and_compiles_nothing(trained):
    """Without changes nothing is done, and a changed profile links."""
    trained.run("meson", "configure", "build", "-Dfrontload=use")
    again = _build(trained)
    assert "Linking target abacus" in again and "Compiling" not in again
    trained.has_front("build/abacus", _PROFILE)
    assert trained.run("build/abacus", "1+2*3").stdout == "1+2*3 = 7\n"
    assert "no work to do" in _build(trained)
    trained.change(_PROFILE)
    again = _build(trained)
    assert "Linking target abacus" in again and "Compiling" not in again


def test_clang_takes_the_profile_of_gcc(trained, untrained, llvm):
    shutil.copy(trained.folder / _PROFILE, untrained.folder / _PROFILE)
    untrained.environment["CC"] = str(llvm / "clang")
    untrained.run("meson", "setup", "build", "-Dfrontload=use")
    _build(untrained)
    untrained.has_front("build/abacus", _PROFILE)


def test_off_and_without_a_profile_links_plainly(untrained):
    """Without a profile, with a warning."""
    untrained.run("meson", "setup", "build")
    _build(untrained)
    assert "0 wrong" in untrained.run("build/abacus", "--test").stdout
    assert not untrained.is_linked_by_lld("build/abacus")
    said = untrained.run("meson", "setup", "--reconfigure", "build", "-Dfrontload=use").stdout
    assert "WARNING: no startup profile" in said
    _build(untrained)
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
    _build(untrained)
    untrained.has_front("build/abacus", _PROFILE)


def _build_wrapped(trained, project, *options: str) -> None:
    """By a compiler in a native file; the project stays as it is."""
    shutil.copy(trained.folder / _PROFILE, project.folder / _PROFILE)
    compiler = ["frontload-cc", "--mode=use", f"--profile-dir={project.folder}/startup", *options,
                "gcc"]
    (project.folder / "frontload.ini").write_text(f"[binaries]\nc = {compiler}\n")
    project.run("meson", "setup", "build", "--native-file", "frontload.ini")
    _build(project)
    assert "no work to do" in _build(project)


def test_a_wrapped_compiler_needs_no_change_in_the_project(trained, untrained):
    _build_wrapped(trained, untrained)
    untrained.has_front("build/abacus", _PROFILE)


def test_the_linker_of_the_build(trained, untrained):
    _build_wrapped(trained, untrained, "--own-linker", "--prefetch")
    untrained.asks_for_its_start("build/abacus", "1+2*3")
