"""frontload auto --module: libraries of the program's build get a front as well."""

import json
import shutil
import subprocess

import pytest
from frontload.auto import libraries
from frontload.auto.link_sources import Given
from frontload.base.errors import Failure
from frontload.profile import format as profile

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
    for tool in ("cmake", "ninja", "cc"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    source = tmp_path_factory.mktemp("words")
    (source / "CMakeLists.txt").write_text(CMAKE)
    (source / "main.c").write_text(MAIN)
    (source / "words.c").write_text("\n".join(
        [f"int word{i}(int x) {{ volatile int s = x; for (int i = 0; i < {i % 7 + 3}; ++i) "
         f"s += i * {i + 1}; return s; }} const char text{i}[1000] = {{{i % 100 + 1}}};"
         for i in range(WORDS)]
        + ["int words(void) { int s = 0;", *(f"s += word{i}(s);" for i in range(0, WORDS, 41)),
           "return s; }"]))
    subprocess.run(["cmake", "-S", source, "-B", source / "build", "-G", "Ninja"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", source / "build"], check=True, stdout=subprocess.DEVNULL)
    return source / "build"


@pytest.fixture
def build_folder(built):
    """The build folder as it is after a build."""
    for path in (*built.glob("*.front"), *built.glob("*.startup")):
        path.unlink()
    return built


def test_a_library_gets_a_front_too(frontload, build_folder, run):
    """Recorded in its own plain link, with data; compared, checked, and predicted."""
    before = (build_folder / "libwords.so.1.2").read_bytes()
    result = frontload("auto", "--json", "--runs", "1", "--no-measure", "--module",
                       "libwords.so.1", "--", build_folder / "app", code=None)
    document = json.loads(result.stdout)
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


def test_both_are_measured_together(frontload, build_folder):
    """The files of a start are the program's and the libraries'; a path names a library as well."""
    document = json.loads(frontload(
        "auto", "--json", *QUICK, "--measured-runs", "2", "--module",
        build_folder / "libwords.so.1", "--", build_folder / "app", code=None).stdout)
    if document["measured"] is None:
        pytest.skip(str(document["missing"]))
    sizes = [(build_folder / name).stat().st_size
             for name in ("app.front", "libwords.so.1.2.front")]
    read = document["measured"]["selectively cold"]["after"]["read_bytes"]["median"]
    assert sizes[0] < read <= sum(sizes) + 8192
    assert not list(build_folder.glob(".*.front.*"))


def test_what_the_program_writes_is_compared_with_these_libraries(frontload, build_folder):
    """A command that tells where it loads from does not write the same."""
    document = json.loads(frontload(
        "auto", "--json", *QUICK, "--no-measure", "--module", "libwords.so.1", "--workload",
        "sh -c '{} && echo $LD_LIBRARY_PATH'", "--", build_folder / "app", code=1).stdout)
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
