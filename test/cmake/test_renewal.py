"""FRONTLOAD=renew: a build that records its programs, and renews profiles that have become old."""

import pytest
from frontload.profile import format as profile
from projects import has_front, names

# A start that opens the door is one that touches what is far away, behind the padding. A link puts
# the door behind the front, because main refers to it, but not what the door leads to.
MAIN_C = """
__attribute__((noipa)) int NEAR(int x) { return x + 1; }
__attribute__((noipa)) int door(int x) { extern int far(int); return far(x); }
static const int table[1024] = {1, 2, 3};
int main(int argc, char **argv) { return NEAR(argc) + table[argc] + (CLOSED || door(argc)) < 0; }
"""
PADDING_C = """
__asm__(".section .text.padding,\\"ax\\",@progbits\\n.space 0x400000\\n.text");
"""
FAR_C = "__attribute__((noipa)) int far(int x) { return x + 2; }"
APP = """
add_executable(app main.c padding.c far.c)
frontload_target(app TRAIN COMMAND app)
"""


def source(opens: bool, near: str = "near") -> str:
    return MAIN_C.replace("CLOSED", "argc > 9" if opens else "argc < 9").replace("NEAR", near)


def sources(opens: bool, near: str = "near") -> dict[str, str]:
    return {"main_c": source(opens, near), "padding_c": PADDING_C, "far_c": FAR_C}


@pytest.fixture
def shops(project):
    """shops(opens, **options): a project with a profile of a start that opens no door, and the
    sources of one that may."""
    def shops(opens=True, cmake=APP, near="near", **options):
        p = project(**options).write(cmake, **sources(False))
        p.train()
        assert "far" not in names(p.path("app.startup"))
        p.write(cmake, **sources(opens, near))
        return p
    return shops


def test_a_profile_that_is_right_is_left_alone(shops):
    """As often as it is asked, and whatever else has changed."""
    p = shops(opens=False)
    before = p.path("app.startup").stat()
    p.configure("-DFRONTLOAD=renew")
    for _ in range(2):
        assert "app.startup is still right" in p.build("frontload-renew")
    assert p.path("app.startup").stat() == before
    assert not p.path("app.startup.new").exists()


@pytest.mark.parametrize("generator", ["Ninja", "Ninja Multi-Config", "Unix Makefiles"])
def test_an_old_profile_is_renewed(shops, generator):
    """If a start takes other faults than the profile says; the next build links with the new."""
    p = shops(generator=generator)
    p.configure("-DFRONTLOAD=renew")
    said = p.build("frontload-renew")
    assert "frontload-renew: wrote" in said and "that differs by more than 10%" in said
    assert "far" in names(p.path("app.startup"))
    assert p.rebuilt_by("app") == {"app"} and has_front(p.built("app"))
    assert "is still right" in p.build("frontload-renew")


def test_a_share_of_faults_is_allowed(shops):
    """FRONTLOAD_RENEW_SHARE is how many percent more or less."""
    p = shops()
    p.configure("-DFRONTLOAD=renew", "-DFRONTLOAD_RENEW_SHARE=100000")
    assert "is still right" in p.build("frontload-renew")
    p.configure("-DFRONTLOAD_RENEW_SHARE=some")
    assert "not a number from 0 up" in p.build("frontload-renew", code=1)


def test_runs_of_older_builds_are_kept_under_their_labels(shops):
    """With FRONTLOAD_GENERATION, a renewed profile has the old runs as well, which fade."""
    p = shops()
    p.configure("-DFRONTLOAD=renew", "-DFRONTLOAD_GENERATION=2.10")
    p.build("frontload-renew")
    read = profile.read(p.path("app.startup"))
    assert [(each.label, each.runs) for each in read.generations] == [(b"2.10", 1), (b"", 1)]
    runs = {name.name: touch.by_generation for name, touch in read.touches.items()}
    assert (runs[b"near"], runs[b"far"]) == ((1, 1), (1, 0))
    assert "is still right" in p.build("frontload-renew")


def test_the_first_profile_may_be_made_aside(project):
    """The target says what there is to do; that there is no profile yet is not that it is old."""
    p = project().write(APP, **sources(False))
    p.configure("-DFRONTLOAD=renew", "-DFRONTLOAD_RENEW_ASIDE=ON")
    said = " ".join(p.build("frontload-renew", code=1).split())
    assert f"error: {p.path('app.startup')}: is not there yet" in said
    assert "near" in names(p.path("app.startup.new"))


@pytest.mark.parametrize(("generator", "code"), [("Ninja", 1), ("Unix Makefiles", 2)])
def test_a_renewal_may_be_written_aside(shops, generator, code):
    """Then the target fails, with the status of the build tool, and the old profile stays; what was
    put aside goes once the profile is right."""
    p = shops(generator=generator)
    before = p.path("app.startup").read_bytes()
    p.configure("-DFRONTLOAD=renew", "-DFRONTLOAD_RENEW_ASIDE=ON")
    said = " ".join(p.build("frontload-renew", code=code).split())
    assert f"error: {p.path('app.startup')}: is old" in said
    assert p.path("app.startup").read_bytes() == before
    assert "far" in names(p.path("app.startup.new"))
    p.path("main.c").write_text(source(False))
    assert "is still right" in p.build("frontload-renew")
    assert not p.path("app.startup.new").exists()


def test_the_first_profile_is_made(project):
    """Where there is none, there is nothing to compare."""
    p = project().write(APP, **sources(False))
    p.configure("-DFRONTLOAD=renew")
    assert "frontload-renew: wrote" in p.build("frontload-renew")
    assert "near" in names(p.path("app.startup"))


def test_a_profile_that_has_rotted_is_renewed(shops):
    """If fewer of its names are found than a link wants, even where no fault more is taken; the
    link of such a build goes on."""
    p = shops(opens=False, near="close", cmake=APP.replace("TRAIN", "MIN_MATCH 100 TRAIN"))
    p.configure("-DFRONTLOAD=use")
    assert "names found" in p.build(code=1)
    p.configure("-DFRONTLOAD=renew")
    assert "frontload-renew: wrote" in p.build("frontload-renew")
    found = names(p.path("app.startup"))
    assert "close" in found and "near" not in found


def test_data_is_renewed(shops):
    """By the map of the program with its front."""
    p = shops(cmake=APP.replace("TRAIN", "DATA TRAIN"))
    assert "table" in names(p.path("app.startup"))
    p.configure("-DFRONTLOAD=renew")
    p.build("frontload-renew")
    assert {"table", "far"} <= set(names(p.path("app.startup")))


def test_a_build_is_what_it_is_in_use(shops):
    """The same program, byte for byte, and nothing is recorded before somebody asks."""
    p = shops(opens=False)
    p.configure("-DFRONTLOAD=use")
    p.build()
    before = p.built("app").read_bytes()
    p.configure("-DFRONTLOAD=renew")
    p.build()
    assert p.built("app").read_bytes() == before
    assert not list(p.binary.rglob("renewed*"))


@pytest.mark.parametrize("mode", ["off", "record", "use"])
def test_other_modes_do_not_renew(project, mode):
    """The target says which mode it needs."""
    p = project().write(APP, **sources(False))
    p.configure(f"-DFRONTLOAD={mode}")
    said = " ".join(p.build("frontload-renew", code=1).split())
    assert f'FRONTLOAD is "{mode}" in this build folder, but it needs the mode "renew"' in said


def test_what_cannot_be_renewed_is_refused(project):
    """Programs that record themselves, and projects that say nothing of training."""
    p = project().write(APP.replace("TRAIN", "INSTRUMENT TRAIN"), **sources(False))
    said = p.configure("-DFRONTLOAD=renew", code=1)
    assert "INSTRUMENT cannot be combined with FRONTLOAD=renew" in said
    p.write(APP.partition(" TRAIN")[0] + ")\n", **sources(False))
    p.configure("-DFRONTLOAD=renew")
    assert "no target of this project says" in p.build("frontload-renew", code=1)


def test_a_command_that_fails_renews_nothing(shops):
    """Nor does a label that is none."""
    p = shops(cmake=APP.replace("COMMAND app", "COMMAND sh -c \"exec $<TARGET_FILE:app>\""))
    before = p.path("app.startup").read_bytes()
    p.configure("-DFRONTLOAD=renew", "-DFRONTLOAD_GENERATION=a:b")
    assert "not a label" in p.build("frontload-renew", code=1)
    p.configure("-DFRONTLOAD_GENERATION=")
    p.path("main.c").write_text("int main(void) { return 3; }")
    p.build("frontload-renew", code=1)
    assert p.path("app.startup").read_bytes() == before
