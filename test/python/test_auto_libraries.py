"""frontload auto --module: libraries of the program's build get a front as well."""

import json
import shutil

import pytest
from frontload.auto import libraries
from frontload.auto.link_sources import Given
from frontload.base.errors import Failure
from frontload.profile import format as profile
from linking import check_run

pytestmark = pytest.mark.usefixtures("tools")
QUICK = "--no-data", "--runs", "1"
WORDS = 400
CMAKE = """
    cmake_minimum_required(VERSION 3.20)
    project(words C)
    set(CMAKE_BUILD_TYPE Release)
    add_compile_options(-ffunction-sections)
    add_library(words SHARED words.c)
    set_target_properties(words PROPERTIES VERSION 1.2 SOVERSION 1)
    add_executable(app main.c)
    target_link_libraries(app words)
"""
MAIN = """
    #include <stdio.h>
    int words(void);
    int main(void) { printf("%d\\n", words()); return 0; }
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A build folder with a program, and a library of which its start enters few functions."""
    source = tmp_path_factory.mktemp("words")
    (source / "CMakeLists.txt").write_text(CMAKE)
    (source / "main.c").write_text(MAIN)
    (source / "words.c").write_text("\n".join(
        [f"int word{i}(int x) {{ return x * {i + 3}; }}"
         f"const char text{i}[1000] = {{{i % 99 + 1}}};" for i in range(WORDS)]
        + ["int words(void) { int s = 0;", *(f"s += word{i}(s);" for i in range(0, WORDS, 41)),
           "return s; }"]))
    check_run("cmake", "-S", source, "-B", source / "build", "-G", "Ninja")
    check_run("cmake", "--build", source / "build")
    return source / "build"


@pytest.fixture
def build_folder(built):
    """The build folder as it is after a build."""
    for path in (*built.glob("*.front"), *built.glob("*.startup")):
        path.unlink()
    return built


def test_a_library_gets_a_front_too(cli, build_folder, run):
    """Recorded in its own plain link, with data; compared, checked, and predicted."""
    before = (build_folder / "libwords.so.1.2").read_bytes()
    document = json.loads(cli("auto", "--json", "--runs", "1", "--no-measure", "--module",
                              "libwords.so.1", "--", build_folder / "app", code=None).out)
    (library,) = document["libraries"]
    assert library["path"] == str(build_folder / "libwords.so.1.2")
    assert library["output"] == str(build_folder / "libwords.so.1.2.front")
    assert library["check"]["coverage"] == 100
    assert document["comparisons"][0]["same"] is True and not document["reasons"]
    both = [library["predicted"][each]["hdd"] for each in ("before", "after")]
    assert both[1]["seconds"] <= both[0]["seconds"]
    made = profile.read(build_folder / "libwords.so.startup")
    names = {name.name for name in made.touches}
    assert made.program == b"libwords.so.1" and made.data_runs == 1
    assert {b"words", b"word0", b"word41"} <= names and b"word1" not in names
    assert (build_folder / "libwords.so.1.2").read_bytes() == before
    # It is one that the program can start with.
    folder = build_folder / "with"
    folder.mkdir()
    (folder / "libwords.so.1").symlink_to(build_folder / "libwords.so.1.2.front")
    assert run("env", f"LD_LIBRARY_PATH={folder}", build_folder / "app").stdout == run(
        build_folder / "app").stdout
    shutil.rmtree(folder)


def test_what_the_program_writes_is_compared_with_these_libraries(cli, build_folder):
    """A command that tells where it loads from does not write the same."""
    document = json.loads(cli(
        "auto", "--json", *QUICK, "--no-measure", "--module", "libwords.so.1", "--workload",
        "sh -c '{} && echo $LD_LIBRARY_PATH'", "--", build_folder / "app", code=1).out)
    assert [each["same"] for each in document["comparisons"]] == [True, False]


def test_what_is_not_linked_again_is_told(build_folder, tmp_path):
    """By the program's own loader; and where the build does not know it."""
    found, missing = libraries.find(["libnone.so"], str(build_folder / "app"), Given())
    assert not found and "is not linked with it" in missing[0].why
    found, missing = libraries.find(["libc.so.6"], str(build_folder / "app"), Given())
    assert not found and "libc.so.6 with a front" in missing[0].what
    found, missing = libraries.find([str(build_folder / "app")], str(build_folder / "app"), Given())
    assert not found and "is not a shared library" in missing[0].why
    copy = shutil.copy(build_folder / "libwords.so.1.2", tmp_path)
    with pytest.raises(Failure, match="link command was not found"):
        libraries._find(str(copy), str(build_folder / "app"), Given())
    (library,), missing = libraries.find(["libwords.so.1.2"], str(build_folder / "app"), Given())
    assert not missing and library.soname == "libwords.so.1"
