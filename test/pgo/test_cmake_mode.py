"""frontload_target(... PGO): both profiles of a CMake project by one frontload-train."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from linking import Image
from places import BUILD, LLVM
from shared_run import APART, TOOL, frontload

LISTS = """
cmake_minimum_required(VERSION 3.25)
project(small C)
find_package(Frontload CONFIG REQUIRED)
add_library(parts STATIC "the parts/parts.c")
add_executable(tool tool.c)
target_link_libraries(tool PRIVATE parts)
add_executable(other other.c)
frontload_target(tool TRAIN COMMAND tool late one COMMAND tool two PGO MIN_MATCH 85 ${MORE})
frontload_target(other TRAIN COMMAND other)
"""
PARTS = """
#include <stdio.h>
int unused_part(int x) { return x * 5; }
__attribute__((noinline)) int part(int x) { if (x > 7) { puts("large"); x /= 3; puts("now less"); }
  return x + 1; }
"""
COMPILERS = {"gcc": "gcc", "clang": LLVM / "clang"}
PROFILE = {"gcc": "tool.gcda", "clang": "tool.profdata"}


class Project:
    """A copy of the small project, in a folder with a space in its name."""

    def __init__(self, folder: Path, compiler: str, generator: str = "Ninja"):
        self.source, self.build = folder / "the source", folder / "the build"
        self.generator = generator
        self.compiler = compiler
        (self.source / "the parts").mkdir(parents=True)
        (self.source / "CMakeLists.txt").write_text(LISTS)
        (self.source / "the parts/parts.c").write_text(PARTS)
        (self.source / "other.c").write_text("int main(void) { return 0; }\n")
        text = TOOL.read_text().replace("int main(", "int part(int);\nint main(")
        (self.source / "tool.c").write_text(text.replace("  return printf", "  x += part(count);\n"
                                                         "  return printf"))

    def run(self, *command, code: int = 0) -> str:
        # The compiler of this project is not this machine's cached one.
        done = subprocess.run([os.fspath(word) for word in command], capture_output=True, text=True,
                              timeout=300)
        assert done.returncode == code, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def configure(self, mode: str, *options, code: int = 0) -> str:
        return self.run("cmake", "-S", self.source, "-B", self.build, "-G", self.generator,
                        f"-DFRONTLOAD={mode}", f"-DFrontload_DIR={BUILD}/lib/cmake/Frontload",
                        f"-DCMAKE_C_COMPILER={COMPILERS[self.compiler]}",
                        "-DCMAKE_BUILD_TYPE=Release", *options, code=code)

    def make(self, *targets, code: int = 0) -> str:
        more = ("--target", *targets) if targets else ()
        return self.run("cmake", "--build", self.build, *more, code=code)

    def image(self) -> Image:
        return Image(self.build / "tool")

    @property
    def pgo_profile(self) -> Path:
        return self.source / PROFILE[self.compiler]


@pytest.fixture(params=COMPILERS)
def project(request, tmp_path):
    return Project(tmp_path, request.param)


def compiled(output: str) -> set[str]:
    """The C sources that a build has compiled."""
    lines = output.splitlines()
    return {line.rsplit("/", 1)[-1].removesuffix(".o") for line in lines if "Building C" in line}


def test_from_no_profile_to_the_final_program(project):
    """Without profiles a warning and a plain program; then one training gives both, the final build
    uses both, and one more run of the final program costs no compilation."""
    said = project.configure("use")
    assert "there is no PGO profile yet" in said and "there is no startup profile yet" in said
    project.make()
    assert ".text.front" not in project.image().order

    project.configure("record")
    project.make("frontload-train")
    assert project.pgo_profile.exists() and (project.source / "other.startup").exists()
    startup = (project.source / "tool.startup").read_text()
    assert "make_table" in startup and "gcov" not in startup and "__llvm_profile" not in startup

    assert "CMake Warning" not in project.configure("use")
    assert compiled(project.make()) == {"tool.c", "parts.c", "other.c"} - unchanged(project)
    image = project.image()
    assert image.section_of("main") == image.section_of("part") == ".text.front"
    assert image.section_of("never") == ".text.unlikely"
    assert "ninja: no work to do" in project.make()

    project.make("frontload-train-tool")  # in this mode: the final program
    output = project.make()
    assert not compiled(output)
    frontload("check", project.build / "tool", "--profile", project.source / "tool.startup",
              "--min-coverage", "100")


def unchanged(project) -> set[str]:
    """What has the same options with and without PGO: nothing of the target that it is for."""
    return {"other.c"}


def test_a_changed_pgo_profile_compiles_what_it_is_for(project):
    """The target and what is linked into it, nothing else; one that is the same, nothing."""
    project.configure("record")
    project.make("frontload-train-tool")
    before = project.pgo_profile.stat().st_mtime_ns
    said = project.make("frontload-train-tool")
    assert "is unchanged" in said and project.pgo_profile.stat().st_mtime_ns == before
    project.configure("use")
    project.make()
    file = project.pgo_profile
    os.utime(file / "contents" if file.is_dir() else file)
    assert compiled(project.make()) == {"tool.c", "parts.c"}


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja Multi-Config"])
def test_counts_are_found_with_other_generators(tmp_path, generator):
    """These name and place objects otherwise, and gcc finds the counts by that; also in a subfolder
    of the project."""
    project = Project(tmp_path / "sub", "gcc", generator)
    whole = tmp_path / "whole"
    whole.mkdir()
    project.source.rename(whole / "sub")
    project.source = whole
    (whole / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\n"
                                          "project(whole C)\nadd_subdirectory(sub)\n")
    project.configure("record")
    project.make("frontload-train-tool")
    assert len(list((whole / "sub/tool.gcda").glob("sub#*.gcda"))) == 2
    project.configure("use", "-DCMAKE_C_FLAGS=-Wmissing-profile")
    assert "not found" not in project.make()
    (program,) = (file for file in project.build.rglob("tool") if file.is_file())
    assert Image(program).section_of("never") == ".text.unlikely"


def test_a_profile_is_for_other_build_folders(project):
    """Profiles are in the source tree, and do not depend on where the program was trained."""
    project.configure("record")
    project.make("frontload-train-tool")
    shutil.rmtree(project.build)
    project.build = project.build.parent / "another build"
    assert "tool: " not in project.configure("use", "-DCMAKE_C_FLAGS=-Wmissing-profile")
    said = project.make()
    assert "not found" not in said
    assert project.image().section_of("never") == ".text.unlikely"


def test_a_build_folder_behind_a_symbolic_link(tmp_path):
    """gcc names its counts by the real path, there they are found, in both modes."""
    project = Project(tmp_path, "gcc")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    project.build = tmp_path / "link/build"
    project.configure("record")
    project.make("frontload-train-tool")
    project.configure("use", "-DCMAKE_C_FLAGS=-Wmissing-profile")
    assert "not found" not in project.make()
    assert project.image().section_of("never") == ".text.unlikely"


def test_what_else_is_in_the_profiles_folder_stays(tmp_path):
    """A training replaces what an earlier one has written, and nothing else; a link stays one."""
    project = Project(tmp_path, "gcc")
    kept = tmp_path / "kept"
    project.configure("record")
    project.make("frontload-train-tool")
    folder = project.pgo_profile.rename(kept)
    project.pgo_profile.symlink_to(kept)
    (folder / "README.md").write_text("these are counts\n")
    gone = folder / "gone.c.gcda"
    gone.write_text("old")
    listed = (folder / "contents").read_text()
    (folder / "contents").write_text(listed + "0" * 64 + "  gone.c.gcda\n")
    assert "wrote" in project.make("frontload-train-tool")
    assert project.pgo_profile.is_symlink() and (folder / "README.md").exists()
    assert not gone.exists() and (folder / "contents").read_text() == listed
    assert {file.name for file in folder.iterdir()} == {
        "README.md", "contents", *(line.split("  ")[1] for line in listed.splitlines())}


@pytest.mark.parametrize("contents", ["my own list\n", "0" * 64 + "  ../up.gcda\n", None])
def test_folders_of_others_are_left_alone(tmp_path, contents):
    """One with an entry `contents` that no training has written is refused."""
    project = Project(tmp_path, "gcc")
    project.pgo_profile.mkdir()
    if contents:
        (project.pgo_profile / "contents").write_text(contents)
    else:
        (project.pgo_profile / "contents").mkdir()
    (project.pgo_profile / "thesis.txt").write_text("mine")
    project.configure("record")
    said = project.make("frontload-train-tool", code=1)
    assert "exists, but is not a PGO profile of frontload-train" in said
    assert {file.name for file in project.pgo_profile.iterdir()} == {"contents", "thesis.txt"}


@pytest.mark.parametrize(("more", "message"), [
    ("INSTRUMENT", "PGO cannot be combined with INSTRUMENT"),
    ("PGO", "PGO is given twice"),
    ("PGO_PROFILE", "PGO_PROFILE has no value"),
])
def test_wrong_calls(tmp_path, more, message):
    """Are refused when the project is configured."""
    project = Project(tmp_path, "gcc")
    said = project.configure("use", f"-DMORE={more}", code=1)
    assert message in said


def test_one_library_cannot_have_two_profiles(tmp_path):
    """It is compiled once, so the second target is refused, with what to do."""
    project = Project(tmp_path, "gcc")
    with (project.source / "CMakeLists.txt").open("a") as lists:
        lists.write('add_executable(second tool.c)\ntarget_link_libraries(second PRIVATE parts)\n'
                    'frontload_target(second PGO)\n')
    for name in ("tool.gcda", "second.gcda"):
        (project.source / name).mkdir()
    said = project.configure("use", code=1)
    assert "parts is linked into targets with two PGO profiles" in " ".join(said.split())


def test_cold_code_is_kept_apart(tmp_path):
    """The option that this needs is among those of the link."""
    project = Project(tmp_path, "gcc")
    (project.source / "tool.gcda").mkdir()
    project.configure("use")
    rules = (project.build / "build.ninja").read_text()
    assert APART.removeprefix("-Wl,-z,") in rules
