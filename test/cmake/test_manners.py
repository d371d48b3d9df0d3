"""What a build may expect of a package that it has let in."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from projects import BUILD, as_nobody, functions, has_front, names, profile_text

APP = """
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND app)
"""


def test_training_is_only_done_on_request(project):
    """Neither a build of everything nor one of the program records anything or writes a profile."""
    p = project().write(APP)
    p.configure("-DFRONTLOAD=record")
    p.build()
    p.build("app")
    assert not p.path("app.startup").exists()
    assert not list(p.binary.rglob("traces"))


def test_each_training_trains(project):
    """frontload-train runs the program each time, as tests do, but a profile that would be the same
    is not written again."""
    p = project().write("""
add_executable(app main.c greet.c)
frontload_target(app TRAIN COMMAND sh -c "echo x >> \\$1 && exec \\$2" sh
                       ${CMAKE_BINARY_DIR}/runs $<TARGET_FILE:app>)
""")
    assert "wrote" in p.train()
    written = p.path("app.startup").stat().st_mtime_ns
    assert "is unchanged" in p.build("frontload-train")
    assert (p.binary / "runs").read_text() == "x\nx\n"
    assert p.path("app.startup").stat().st_mtime_ns == written
    assert p.rebuilt_by() == set()


def test_switching_never_compiles(project):
    """record and use differ in how programs are linked, not in how they are compiled."""
    p = project().write(APP)
    p.configure("-DFRONTLOAD=record")
    p.build()
    p.configure("-DFRONTLOAD=use")
    assert p.rebuilt_by() == {"app"}
    p.configure("-DFRONTLOAD=record")
    assert p.rebuilt_by() == {"app"}


def test_off_changes_nothing(project):
    """With FRONTLOAD=off a program is what it is without the call, to the byte; its project says no
    word of profiles."""
    p = project().write(APP)
    assert "profile" not in p.configure("-DFRONTLOAD=off")
    p.build()
    with_call = p.built("app").read_bytes()
    p.write("add_executable(app main.c greet.c)\n")
    p.configure("-DFRONTLOAD=off", "--fresh")
    p.build()
    assert p.built("app").read_bytes() == with_call


@pytest.mark.parametrize("mode", ["off", "use"])
def test_training_elsewhere_than_in_record(project, mode):
    """frontload-train is there in each mode, and says which one it needs."""
    p = project().write(APP)
    p.configure(f"-DFRONTLOAD={mode}")
    said = p.build("frontload-train", code=1)
    assert f'FRONTLOAD is "{mode}"' in said
    assert f'cmake -DFRONTLOAD=record "{p.binary}"' in said


def test_nothing_to_train(project):
    p = project().write("add_executable(app main.c greet.c)\nfrontload_target(app)\n")
    said = p.train(code=1)
    assert "no target of this project says how to train it" in said and "TRAIN COMMAND" in said


def test_failing_training(project):
    """A training command that fails fails the training, and the profile stays as it was."""
    p = project().write(APP.replace("COMMAND app", "COMMAND app COMMAND false"))
    p.path("app.startup").write_text("precious")
    p.train(code=1)
    assert p.path("app.startup").read_text() == "precious"


def test_several_targets_train_at_once(project):
    """Their trainings do not see each other, whatever runs beside what."""
    count = 6
    p = project().write("".join(
        f"add_executable(app{i} main{i}.c greet.c)\n"
        f"frontload_target(app{i} TRAIN COMMAND app{i} COMMAND app{i} x WORKLOAD w)\n"
        for i in range(count)),
        **{f"main{i}_c": f"int greet(int);\n"
                         f"__attribute__((noipa)) int only{i}(int x) {{ return greet(x); }}\n"
                         f"int main(int n, char **v) {{ return only{i}(n) < 0; }}\n"
           for i in range(count)})
    p.train()
    for i in range(count):
        assert [name for name in names(p.path(f"app{i}.startup"))
                if name.startswith("only")] == [f"only{i}"]


@pytest.fixture
def open_folder():
    """A folder that others may look into; pytest's are their owner's alone."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        try:
            subprocess.run([BUILD / "bin/frontload", "--version"], check=True, capture_output=True,
                           **as_nobody())
        except (OSError, subprocess.CalledProcessError):
            pytest.skip(f"{BUILD}: not to be read by another user")
        yield Path(folder)


def test_read_only_source_tree(project, open_folder):
    """A build folder elsewhere does all that it does; a new profile stays there, and the training
    says where and what to do."""
    p = project(open_folder / "source", binary=open_folder / "build").write(APP)
    p.binary.mkdir(mode=0o777)
    p.binary.chmod(0o777)
    p.source.chmod(0o555)
    p.configure("-DFRONTLOAD=record", **as_nobody())
    said = " ".join(p.build("frontload-train", code=1, **as_nobody()).split())
    trained = p.binary / "app.frontload/trained/app.startup"
    assert f"{p.path('app.startup')}: cannot be written: Permission denied" in said
    assert f"the new profile is {trained}" in said and "PROFILE <file>" in said
    assert "greet" in names(trained)
    assert sorted(os.listdir(p.source)) == ["CMakeLists.txt", "greet.c", "main.c"]
    # The remedy.
    p.source.chmod(0o755)
    shutil.copy(trained, p.path("app.startup"))
    p.source.chmod(0o555)
    p.configure("-DFRONTLOAD=use", **as_nobody())
    p.build(**as_nobody())
    assert has_front(p.built("app"))
    # What is there already and the same needs no writing.
    p.configure("-DFRONTLOAD=record", **as_nobody())
    assert "is unchanged" in p.build("frontload-train", **as_nobody())
    p.source.chmod(0o755)


def test_two_build_folders_give_the_same_bytes(project, tmp_path):
    """Nothing of where a build folder lies gets into a program with a front, if its objects have
    none."""
    made = []
    for folder in ("here", "some where else/than that"):
        p = project(tmp_path / folder).write(APP)
        p.path("app.startup").write_text(profile_text("app", "main", "greet"))
        p.configure(f'-DCMAKE_C_FLAGS=-g "-ffile-prefix-map={tmp_path / folder}=."')
        p.build()
        assert has_front(p.built("app"))
        made.append(p.built("app").read_bytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_response_files(project, generator):
    """Objects and options may come in response files."""
    p = project(generator=generator).write(APP)
    p.path("app.startup").write_text(profile_text("app", "greet"))
    p.configure("-DCMAKE_NINJA_FORCE_RESPONSE_FILE=ON",
                "-DCMAKE_C_USE_RESPONSE_FILE_FOR_OBJECTS=ON",
                "-DCMAKE_C_USE_RESPONSE_FILE_FOR_LIBRARIES=ON")
    p.build()
    assert has_front(p.built("app"))


def test_install(project, tmp_path, run):
    """An installed program is the built one, with its front, and runs."""
    p = project().write(APP + "install(TARGETS app)\n")
    p.path("app.startup").write_text(profile_text("app", "greet"))
    p.configure()
    p.build()
    run("cmake", "--install", p.binary, "--prefix", tmp_path / "prefix")
    assert [str(path.relative_to(tmp_path / "prefix"))
            for path in (tmp_path / "prefix").rglob("*") if path.is_file()] == ["bin/app"]
    assert has_front(tmp_path / "prefix/bin/app")
    assert run(tmp_path / "prefix/bin/app").stdout == "world 42\n"


def test_clean(project):
    """What Frontload has put into the build folder goes with what the build has."""
    p = project().write(APP)
    p.train()
    p.build("clean")
    assert not list(p.binary.glob("app*"))
    p.configure("-DFRONTLOAD=use")
    p.build()
    p.build("clean")
    assert not list(p.binary.glob("app*"))
    p.build()
    assert has_front(p.built("app"))


def test_links_only_what_a_profile_is_for(project):
    """Of two targets that have profiles, the one whose profile changes is linked again."""
    p = project().write("""
add_executable(one main.c greet.c)
add_executable(two main.c greet.c)
frontload_target(one)
frontload_target(two PROFILE profiles/second.txt)
""")
    p.path("profiles").mkdir()
    p.path("one.startup").write_text(profile_text("one", "greet"))
    p.path("profiles/second.txt").write_text(profile_text("two", "greet"))
    p.configure()
    p.build()
    p.path("profiles/second.txt").write_text(profile_text("two", "never", "greet"))
    assert p.rebuilt_by() == {"two"}
    assert functions(p.built("two")).index("never") < functions(p.built("two")).index("greet")
