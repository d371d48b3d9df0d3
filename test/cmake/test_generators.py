"""The whole way from no profile to a program that was linked again with a new one, in the build
systems and with the compilers that users have.

Not each with each: the rows hold every pair of a generator, a compiler, a kind of target and a kind
of path at least once.
"""

import pytest
from projects import functions, has_front, linker, names, profile_text

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
    ("Ninja", "gcc", "executable", "plain"),
    ("Ninja", "clang", "shared", STRANGE),
    ("Ninja Multi-Config", "gcc", "shared", "plain"),
    ("Ninja Multi-Config", "clang", "executable", STRANGE + ", d"),
    ("Unix Makefiles", "gcc", "executable", STRANGE + ", d"),
    ("Unix Makefiles", "clang", "shared", "plain"),
])
def test_from_no_profile_to_another(project, tmp_path, generator, compiler, kind, path):
    """A missing profile is a warning and a plain link; training writes it; nothing is compiled
    again; an identical profile links nothing, a changed one its target, and nothing else is ever
    built."""
    p = project(tmp_path / path / "source", binary=tmp_path / path / "build", generator=generator,
                compiler=compiler)
    p.write(EXECUTABLE if kind == "executable" else SHARED)
    output, profile = (("app", p.path("app.startup")) if kind == "executable" else
                       ("libgoods.so.1.2.3", p.path("goods.startup")))

    # As CMake has it, a program is linked again after each shared library that it needs.
    linked = {output} if kind == "executable" else {output, "other"}

    # No profile.
    said = p.configure()
    assert "Warning" in said and "there is no startup profile yet" in said
    p.build()
    assert linker(p.built(output)) == "LLD" and not has_front(p.built(output))
    assert linker(p.built("other")) == "other"
    assert p.rebuilt_by() == set()

    # Training.
    p.configure("-DFRONTLOAD=record")
    assert p.rebuilt_by() == linked
    assert p.built(output + ".map").exists() and not profile.exists()
    p.build("frontload-train")
    assert "greet" in names(profile)
    assert "never" not in names(profile)
    assert p.rebuilt_by() == set()

    # Use.
    assert "Warning" not in p.configure("-DFRONTLOAD=use")
    assert p.rebuilt_by() == linked
    assert has_front(p.built(output))
    assert functions(p.built(output)).index("greet") < functions(p.built(output)).index("rare")
    assert p.rebuilt_by() == set()
    if "Ninja" in generator:
        assert p.explained() == []

    # The same profile again, written anew; then another one.
    profile.write_bytes(profile.read_bytes())
    assert p.rebuilt_by() == set()
    assert "Taking" not in p.build()
    if "Ninja" in generator:
        assert p.explained() == []
    profile.write_text(profile_text(output, "rare"))
    assert p.rebuilt_by() == linked
    assert functions(p.built(output)).index("rare") < functions(p.built(output)).index("greet")
    assert p.rebuilt_by() == set()

    # It goes, and comes back.
    profile.unlink()
    assert p.rebuilt_by() == linked
    assert not has_front(p.built(output))
    assert p.rebuilt_by() == set()
    profile.write_text(profile_text(output, "rare"))
    assert p.rebuilt_by() == linked
    assert has_front(p.built(output))
    if "Ninja" in generator:
        assert p.explained() == []


def test_all_configurations_at_once(project):
    """Ninja Multi-Config builds each configuration with the profile, in one run if wanted."""
    p = project(generator="Ninja Multi-Config").write(EXECUTABLE)
    p.path("app.startup").write_text(profile_text("app", "rare"))
    p.configure("-DCMAKE_CROSS_CONFIGS=all", "-DCMAKE_DEFAULT_CONFIGS=all",
                "-DCMAKE_DEFAULT_BUILD_TYPE=Release")
    p.ninja("app:all")
    for config in ("Debug", "Release"):
        order = functions(p.binary / config / "app")
        assert order.index("rare") < order.index("greet")
    p.path("app.startup").write_text(profile_text("app", "never"))
    p.ninja("app:all")
    for config in ("Debug", "Release"):
        order = functions(p.binary / config / "app")
        assert order.index("never") < order.index("rare")
