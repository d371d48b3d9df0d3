"""The whole way from no profile to a program that was linked again with a new one. The rows hold
every pair of a generator, a compiler, a kind of target and a kind of path at least once."""

import pytest
from projects import has_front, is_ordered, linker, names

EXECUTABLE = """
add_executable(app main.c greet.c)
add_executable(other main.c greet.c)
frontload_target(app TRAIN COMMAND app)
"""
SHARED = """
add_library(goods SHARED greet.c)
set_target_properties(goods PROPERTIES VERSION 1.2.3 SOVERSION 1)
add_executable(other main.c)
target_link_libraries(other PRIVATE goods)
frontload_target(goods TRAIN COMMAND other)
"""
# Not #, $, % or ', which CMake, Makefiles, lld's -Map or ninja's reader of dependencies do not
# bear; and CMake itself cannot have a comma in the rpath of what needs a shared library.
STRANGE = "a b ü"


@pytest.mark.parametrize("generator, compiler, kind, path", [
    ("Ninja", "clang", "shared", STRANGE),
    ("Unix Makefiles", "gcc", "executable", STRANGE + ", d"),
    pytest.param("Ninja Multi-Config", "gcc", "shared", "plain", marks=pytest.mark.slow),
    pytest.param("Ninja", "gcc", "executable", "plain", marks=pytest.mark.slow),
    pytest.param("Ninja Multi-Config", "clang", "executable", STRANGE + ", d",
                 marks=pytest.mark.slow),
    pytest.param("Unix Makefiles", "clang", "shared", "plain", marks=pytest.mark.slow),
])
def test_from_no_profile_to_another(project, tmp_path, generator, compiler, kind, path):
    """Training writes it, nothing is compiled again, and only what a profile is for linked."""
    p = project(tmp_path / path / "source", binary=tmp_path / path / "build", generator=generator,
                compiler=compiler)
    p.write(EXECUTABLE if kind == "executable" else SHARED)
    target, output = (("app", "app") if kind == "executable" else ("goods", "libgoods.so.1.2.3"))
    profile, built = p.path(f"{target}.startup"), p.built(output)
    # As CMake has it, a program is linked again after each shared library that it needs.
    linked = {output} if kind == "executable" else {output, "other"}

    # No profile.
    said = p.configure()
    assert "Warning" in said and "there is no startup profile yet" in said
    p.build()
    assert linker(built) == "LLD" and not has_front(built)
    assert linker(p.built("other")) == "other"
    assert p.is_up_to_date()

    # Training, which a build of everything does not do.
    p.configure("-DFRONTLOAD=record")
    assert p.rebuilt_by() == linked
    assert built.with_name(output + ".map").exists() and not profile.exists()
    p.train()
    assert "greet" in names(profile) and "never" not in names(profile)
    assert p.rebuilt_by() == set()

    # Use.
    assert "Warning" not in p.configure("-DFRONTLOAD=use")
    assert p.rebuilt_by() == linked
    assert has_front(built) and is_ordered(built, "greet", "rare")
    assert p.is_up_to_date()

    # The same profile again, written anew; then another one.
    profile.write_bytes(profile.read_bytes())
    assert p.rebuilt_by() == set() and "Taking" not in p.build()
    p.profile(target, "rare")
    assert p.rebuilt_by() == linked
    assert is_ordered(built, "rare", "greet")

    # It goes, and comes back.
    profile.unlink()
    assert p.rebuilt_by() == linked
    assert not has_front(built) and p.is_up_to_date()
    p.profile(target, "rare")
    assert p.rebuilt_by() == linked
    assert has_front(built) and p.is_up_to_date()


def test_all_configurations_at_once(project, run):
    """Ninja Multi-Config builds each configuration with the profile, in one run if wanted."""
    p = project(generator="Ninja Multi-Config").write(EXECUTABLE)
    p.profile("app", "rare")
    p.configure("-DCMAKE_CROSS_CONFIGS=all", "-DCMAKE_DEFAULT_CONFIGS=all",
                "-DCMAKE_DEFAULT_BUILD_TYPE=Release")
    for first, second in (("rare", "greet"), ("never", "rare")):
        p.profile("app", first)
        run("ninja", "-C", p.binary, "app:all")
        for config in ("Debug", "Release"):
            assert is_ordered(p.binary / config / "app", first, second)
