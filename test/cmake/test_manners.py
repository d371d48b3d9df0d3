"""What a build may expect of a package that it has let in."""

import os

from projects import APP, has_front, is_ordered, names


def test_each_training_trains(project):
    """Each time, but the same profile is not written again; a build records nothing."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND sh -c "echo x >> \\$1 && exec \\$2" sh
                       ${CMAKE_BINARY_DIR}/runs $<TARGET_FILE:app>)
""")
    p.configure("-DFRONTLOAD=record")
    p.build()
    assert not (p.binary / "runs").exists() and not list(p.binary.rglob("traces"))
    assert "wrote" in p.train()
    written = p.path("app.startup").stat().st_mtime_ns
    assert "is unchanged" in p.build("frontload-train")
    assert (p.binary / "runs").read_text() == "x\nx\n"
    assert p.path("app.startup").stat().st_mtime_ns == written
    assert p.rebuilt_by() == set()


def test_off_changes_nothing(project):
    """A program is what it is without the call, to the byte, and nothing is said."""
    p = project().write()
    assert "profile" not in p.configure("-DFRONTLOAD=off")
    p.build()
    with_call = p.built().read_bytes()
    p.write("add_executable(app main.c greet.c)\n")
    p.configure("-DFRONTLOAD=off", "--fresh")
    p.build()
    assert p.built().read_bytes() == with_call


def test_what_cannot_be_trained(project):
    """The target is there in each mode, and says what it needs."""
    p = project().write("add_executable(app main.c greet.c)\nfrontload_target(app)\n")
    for mode in ("off", "record"):
        p.configure(f"-DFRONTLOAD={mode}")
        said = " ".join(p.build("frontload-train", code=1).split())
        assert f'FRONTLOAD is "{mode}" in this build folder, and no target can be trained' in said
        assert "add TRAIN COMMAND" in said and "-DFRONTLOAD=record" in said


def test_several_targets_train_at_once(project):
    """Their trainings do not see each other, whatever runs beside what."""
    main = "int ONLY(int x) { return x; }\nint main(int n, char **v) { return ONLY(n) < 0; }\n"
    p = project().write("add_compile_options(-O0)\n" + "".join(
        f"add_executable({name} {name}.c)\n"
        f"frontload_target({name} TRAIN COMMAND {name} COMMAND {name} x)\n"
        for name in "ab"), **{f"{name}_c": main.replace("ONLY", f"only_{name}") for name in "ab"})
    p.train()
    for app in "ab":
        assert [name for name in names(p.path(f"{app}.startup"))
                if name.startswith("only")] == [f"only_{app}"]


def test_a_profile_that_cannot_be_written_stays_in_the_build_folder(project, tmp_path):
    """The training says where it is, and what to do. Nothing else is written to the sources."""
    p = project(binary=tmp_path / "build").write(APP.replace("TRAIN", "PROFILE kept/p TRAIN"))
    p.path("kept").write_text("no folder")
    before = sorted(os.listdir(p.source))
    said = " ".join(p.train(code=1).split())
    trained = p.binary / "app.frontload/trained/app.startup"
    assert f"{p.path('kept/p')}: cannot be written: Not a directory" in said
    assert f"the new profile is {trained}" in said and "PROFILE <file>" in said
    assert sorted(os.listdir(p.source)) == before


def test_two_build_folders_give_the_same_bytes(project, tmp_path):
    """Also with response files. Nothing of where a folder lies gets into the program."""
    made = []
    for folder in ("here", "some where else/than that"):
        p = project(tmp_path / folder).write()
        p.profile("app", "main", "greet")
        p.use(f'-DCMAKE_C_FLAGS=-g "-ffile-prefix-map={tmp_path / folder}=."',
              "-DCMAKE_NINJA_FORCE_RESPONSE_FILE=ON", "-DCMAKE_C_USE_RESPONSE_FILE_FOR_OBJECTS=ON",
              "-DCMAKE_C_USE_RESPONSE_FILE_FOR_LIBRARIES=ON")
        assert has_front(p.built())
        made.append(p.built().read_bytes())
    assert made[0] == made[1]


def test_clean(project):
    """What Frontload has put into the build folder goes with what the build has."""
    p = project().write()
    p.train()
    p.build("clean")
    assert not list(p.binary.glob("app*"))
    p.use()
    p.build("clean")
    assert not list(p.binary.glob("app*"))


def test_links_only_what_a_profile_is_for(project):
    """Of two targets that have profiles, the one whose profile changes is linked again."""
    p = project().write("""
add_executable(one main.c greet.c)
add_executable(two main.c greet.c)
frontload_target(one)
frontload_target(two PROFILE profiles/two.startup)
""")
    p.path("profiles").mkdir()
    p.profile("one")
    p.profile("profiles/two")
    p.use()
    p.profile("profiles/two", "never", "greet")
    assert p.rebuilt_by() == {"two"}
    assert is_ordered(p.built("two"), "never", "greet")
