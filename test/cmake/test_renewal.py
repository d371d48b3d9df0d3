"""FRONTLOAD=renew: a build that records its programs, and renews profiles that have become old."""

import shutil

import pytest
from abilities import needs
from frontload.profile import format as profile
from projects import APP, has_front, names

# A start that opens the door is one that touches what no start touched before.
MAIN_C = """
__attribute__((noipa)) int NEAR(int x) { return x + 1; }
__attribute__((noipa)) int door(int x) { extern int far(int); return far(x); }
static const int table[1024] = {1, 2, 3};
int main(int argc, char **argv) { return NEAR(argc) + table[argc] + (CLOSED || door(argc)) < 0; }
"""
GREET_C = """
__asm__(".section .text.padding,\\"ax\\",@progbits\\n.space 0x400000\\n.text");
__attribute__((noipa)) int far(int x) { return x + 2; }
"""


def sources(opens: bool, near: str = "near") -> dict[str, str]:
    return {"main_c": MAIN_C.replace("CLOSED", f"argc {'><'[not opens]} 9").replace("NEAR", near),
            "greet_c": GREET_C}


@pytest.fixture(scope="module")
def recorded() -> dict:
    return {}


@pytest.fixture
def shops(project, recorded):
    """shops(opens, **options): a project with a profile of a start that opens no door."""
    def shops(opens=True, cmake=APP, near="near", **options):
        p = project(**options).write(cmake, **sources(False))
        if cmake not in recorded:
            p.train()
            recorded[cmake] = p.path("app.startup").read_bytes()
            p.build("clean")
            assert "far" not in names(p.path("app.startup"))
        p.path("app.startup").write_bytes(recorded[cmake])
        return p.write(cmake, **sources(opens, near))
    return shops


def renew(p, *arguments: str, code: int = 0) -> str:
    """What a renewal says, in one line."""
    p.configure("-DFRONTLOAD=renew", *arguments)
    return " ".join(p.build("frontload-renew", code=code).split())


def test_a_profile_that_is_right_is_left_alone(shops):
    """A build is the same program in the modes use and renew, and records nothing by itself."""
    p = shops(opens=False)
    before = p.path("app.startup").stat().st_mtime_ns
    p.use()
    program = p.built().read_bytes()
    p.configure("-DFRONTLOAD=renew")
    p.build()
    assert p.built().read_bytes() == program and not list(p.binary.rglob("traces"))
    assert "app.startup is still right" in renew(p)
    assert p.path("app.startup").stat().st_mtime_ns == before
    assert not p.path("app.startup.new").exists()


@pytest.mark.parametrize("generator, code", [
    ("Ninja", 1), pytest.param("Unix Makefiles", 2, marks=pytest.mark.slow)])
def test_an_old_profile_is_renewed(shops, generator, code):
    """If less than FRONTLOAD_RENEW_COVERAGE percent of what a start touches lies in the front."""
    p = shops(generator=generator)
    old, new = p.path("app.startup"), p.path("app.startup.new")
    before = old.read_bytes()
    assert "is still right" in renew(p, "-DFRONTLOAD_RENEW_COVERAGE=50")
    said = renew(p, "-DFRONTLOAD_RENEW_COVERAGE=90", "-DFRONTLOAD_RENEW_ASIDE=ON", code=code)
    assert f"error: {old}: is old" in said and "less than 90%" in said
    assert old.read_bytes() == before and "far" in names(new)
    old.unlink()
    assert f"error: {old}: is not there yet" in renew(p, code=code)
    shutil.copy(new, old)
    assert "is still right" in renew(p)
    assert has_front(p.built()) and not new.exists()


def test_runs_of_older_builds_are_kept_under_their_labels(shops):
    """With FRONTLOAD_GENERATION, a renewed profile has the old runs as well, which fade."""
    p = shops()
    renew(p, "-DFRONTLOAD_GENERATION=2.10")
    read = profile.read(p.path("app.startup"))
    assert [(each.label, each.runs) for each in read.generations] == [(b"2.10", 1), (b"", 1)]
    runs = {name.name: touch.by_generation for name, touch in read.touches.items()}
    assert (runs[b"near"], runs[b"far"]) == ((1, 1), (1, 0))


@needs("valgrind")
def test_a_profile_that_has_rotted_is_renewed(shops):
    """If fewer of its names are found than a link wants; data by the map of the front."""
    p = shops(opens=False, near="close", cmake=APP.replace("TRAIN", "MIN_MATCH 100 DATA TRAIN"))
    p.configure("-DFRONTLOAD=use")
    assert "names found" in p.build(code=1)
    assert "frontload-renew: wrote" in renew(p)
    found = names(p.path("app.startup"))
    assert {"close", "table"} <= set(found) and "near" not in found


@needs("ptrace")
def test_a_command_that_fails_changes_no_profile(project):
    """Nor are programs that record themselves renewed."""
    p = project().write(APP.replace("COMMAND app", "COMMAND app COMMAND false"))
    p.profile()
    before = p.path("app.startup").read_bytes()
    for verb, mode in (("train", "record"), ("renew", "renew")):
        p.configure(f"-DFRONTLOAD={mode}")
        p.build(f"frontload-{verb}", code=1)
        assert p.path("app.startup").read_bytes() == before
    p.write(APP.replace("TRAIN", "INSTRUMENT TRAIN"))
    said = p.configure("-DFRONTLOAD=renew", code=1)
    assert "INSTRUMENT cannot be combined with FRONTLOAD=renew" in said
