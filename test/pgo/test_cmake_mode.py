"""frontload_target(... PGO): both profiles of a CMake project by one frontload-train."""

import os
import shutil
from pathlib import Path

import pytest
from abilities import needs
from linking import Image
from places import BUILD, LLVM
from shared_run import APART, TOOL, do, frontload

pytestmark = needs("ptrace", "program:cmake", "program:ninja")
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
# The C compiler, and the profile of the target `tool`.
COMPILERS = {"gcc": ("gcc", "tool.gcda"), "clang": (LLVM / "clang", "tool.profdata")}


class Project:
    """A copy of the small project, in a folder with a space in its name."""

    def __init__(self, folder: Path, compiler: str, generator: str = "Ninja"):
        self.source, self.build = folder / "the source", folder / "the build"
        self.generator = generator
        self.compiler, profile = COMPILERS[compiler]
        self.pgo_profile = self.source / profile
        (self.source / "the parts").mkdir(parents=True)
        (self.source / "CMakeLists.txt").write_text(LISTS)
        (self.source / "the parts/parts.c").write_text(PARTS)
        (self.source / "other.c").write_text("int main(void) { return 0; }\n")
        text = TOOL.read_text().replace("int main(", "int part(int);\nint main(")
        (self.source / "tool.c").write_text(text.replace("  return printf", "  x += part(count);\n"
                                                         "  return printf"))

    def configure(self, mode: str, *options, code: int = 0) -> str:
        """What CMake says, which breaks lines by the lengths of paths, in one line."""
        done = do("cmake", "-S", self.source, "-B", self.build, "-G", self.generator,
                  f"-DFRONTLOAD={mode}", f"-DFrontload_DIR={BUILD}/lib/cmake/Frontload",
                  f"-DCMAKE_C_COMPILER={self.compiler}", "-DCMAKE_BUILD_TYPE=Release", *options,
                  code=code)
        return " ".join((done.stdout + done.stderr).split())

    def make(self, *targets, code: int = 0) -> str:
        more = ("--target", *targets) if targets else ()
        done = do("cmake", "--build", self.build, *more, code=code)
        return done.stdout + done.stderr

    def image(self) -> Image:
        return Image(self.build / "tool")


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
    assert ".note.frontload" not in project.image().order

    project.configure("record")
    project.make("frontload-train")
    assert project.pgo_profile.exists() and (project.source / "other.startup").exists()
    startup = (project.source / "tool.startup").read_text()
    assert "make_table" in startup and "gcov" not in startup and "__llvm_profile" not in startup

    assert "CMake Warning" not in project.configure("use")
    # The option that cold code of its own needs is among those of the link.
    assert APART.removeprefix("-Wl,-z,") in (project.build / "build.ninja").read_text()
    # What has the same options with and without PGO is not compiled again.
    assert compiled(project.make()) == {"tool.c", "parts.c"}
    image = project.image()
    assert image.sections_of("main", "part") == {".text.front"}
    assert image.section_of("never") == ".text.unlikely"
    assert "ninja: no work to do" in project.make()

    project.make("frontload-train-tool")  # in this mode: the final program
    output = project.make()
    assert not compiled(output)
    frontload("check", project.build / "tool", "--profile", project.source / "tool.startup",
              "--min-coverage", "100")


def test_a_changed_pgo_profile_compiles_what_it_is_for(project):
    """The target and what is linked into it, nothing else; one that is the same, nothing. Profiles
    do not depend on where the program was trained. A training replaces what an earlier one has
    written, and leaves a README; a link stays one."""
    project.configure("record")
    project.make("frontload-train-tool")
    profile, kept = project.pgo_profile, project.source / "kept"
    profile.rename(kept)
    profile.symlink_to(kept)
    before = profile.stat().st_mtime_ns
    assert "is unchanged" in project.make("frontload-train-tool")
    assert profile.stat().st_mtime_ns == before and profile.is_symlink()
    if profile.is_dir():
        listed = (kept / "contents").read_text()
        (kept / "contents").write_text("old")
        (kept / "README.md").write_text("these are counts\n")
        (kept / "gone.c.gcda").write_text("old")
        assert "wrote" in project.make("frontload-train-tool")
        assert profile.is_symlink() and (kept / "contents").read_text() == listed
        assert {file.name for file in kept.iterdir()} == {
            "README.md", "contents", *(line.split("  ")[1] for line in listed.splitlines())}

    shutil.rmtree(project.build)
    project.build = project.build.parent / "another build"
    assert "tool: " not in project.configure("use")
    project.make()
    assert project.image().section_of("never") == ".text.unlikely"
    os.utime(profile / "contents" if profile.is_dir() else profile)
    assert compiled(project.make()) == {"tool.c", "parts.c"}


@pytest.mark.parametrize("generator", ["Unix Makefiles", "Ninja Multi-Config"])
def test_counts_are_found_with_other_generators(tmp_path, generator):
    """These name and place objects otherwise, and gcc finds the counts by that; also in a subfolder
    of the project, and where Ninja builds behind a symbolic link."""
    project = Project(tmp_path / "sub", "gcc", generator)
    whole = tmp_path / "whole"
    whole.mkdir()
    project.source.rename(whole / "sub")
    project.source = whole
    (whole / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\n"
                                          "project(whole C)\nadd_subdirectory(sub)\n")
    if "Ninja" in generator:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        project.build = tmp_path / "link/build"
    project.configure("record")
    project.make("frontload-train-tool")
    assert len(list((whole / "sub/tool.gcda").glob("sub#*.gcda"))) == 2
    project.configure("use")
    project.make()
    (program,) = (file for file in project.build.rglob("tool") if file.is_file())
    assert Image(program).section_of("never") == ".text.unlikely"


def test_wrong_calls(tmp_path):
    """Are refused when the project is configured."""
    project = Project(tmp_path, "gcc")
    for more, message in (("INSTRUMENT", "PGO cannot be combined with INSTRUMENT"),
                          ("PGO_PROFILE", "PGO_PROFILE has no value")):
        assert message in project.configure("use", f"-DMORE={more}", code=1)
    # A library is compiled once, so it cannot have two profiles.
    with (project.source / "CMakeLists.txt").open("a") as lists:
        lists.write('add_executable(second tool.c)\ntarget_link_libraries(second PRIVATE parts)\n'
                    'frontload_target(second PGO)\n')
    for name in ("tool.gcda", "second.gcda"):
        (project.source / name).mkdir()
    said = project.configure("use", "-DMORE=", code=1)
    assert "parts is linked into targets with two PGO profiles" in said
