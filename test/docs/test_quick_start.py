"""The quick start, and the steps by hand: their commands are run, as they stand there, on a small
program."""

import os
import subprocess
from pathlib import Path

import pytest
from abilities import needs
from markdown_it import MarkdownIt
from places import BUILD, ROOT

QUICK_START = ROOT / "docs/quick-start.md"
BY_HAND = ROOT / "docs/how-to/by-hand.md"
NOT_RUN = "<!-- not run by the tests"

PROGRAM = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(app CXX)
add_executable(app app.cpp version.cpp)
""",
    "app.cpp": """
        #include <cstdio>
        const char *version();
        int main(int argc, char **) { return argc > 1 ? std::puts(version()) < 0 : 1; }""",
    "version.cpp": """
        #include <map>
        #include <string>
        static std::map<std::string, std::string> known = {{"app", "app 1.0"}, {"lib", "lib 2"}};
        const char *version() { return known["app"].c_str(); }""",
}
# What no start needs: without it, a front is not worth it.
REST = "".join(f"long rest{number}(long x) {{ for (long i = 0; i < x; i++) x += x * {number} + i; "
               "return x; }\n" for number in range(4000))


def commands(page: Path) -> list[str]:
    """The blocks of commands of a page, but those that it says are not run."""
    found, before = [], ""
    for token in MarkdownIt().parse(page.read_text()):
        if token.type == "fence" and token.info == "sh" and not before.startswith(NOT_RUN):
            found.append(token.content)
        before = token.content if token.type == "html_block" else ""
    return found


def run_all(page: Path, folder: Path, environment: dict) -> str:
    """Runs all commands of a page one after the other, in one shell; what they print."""
    script = "set -eux\n" + "\n".join(commands(page))
    result = subprocess.run(["bash", "-c", script], cwd=folder, env=environment,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture
def own_program(tmp_path, build):
    """A folder with the small program, and an environment to work in there."""
    folder = tmp_path / "own program"
    folder.mkdir()
    for name, text in PROGRAM.items():
        (folder / name).write_text(text)
    return folder, {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
                    "CMAKE_PREFIX_PATH": str(build), "CMAKE_GENERATOR": "Ninja"}


@needs("ptrace", "strace", "tmp-on-disk")
def test_the_quick_start_works(own_program, run):
    """Every command does, the lines for CMake are those that init writes, and the programs have a
    front."""
    folder, environment = own_program
    (folder / "rest.cpp").write_text(REST)
    (folder / "CMakeLists.txt").write_text(PROGRAM["CMakeLists.txt"].replace(
        "version.cpp", "rest.cpp version.cpp"))
    for step in (["-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"], ["--build", "build"]):
        run("cmake", *step, cwd=folder, env=environment)
    assert "program with a front" in run_all(QUICK_START, folder, environment)
    lines = next(token.content for token in MarkdownIt().parse(QUICK_START.read_text())
                 if token.type == "fence" and token.info == "cmake")
    assert (folder / "CMakeLists.txt").read_text().endswith("\n" + lines)
    for program in ("build/app", "build/app.front", "app"):
        assert ".note.frontload" in run("readelf", "-SW", folder / program).stdout, program


@needs("ptrace", "tmp-on-disk")
def test_the_steps_by_hand_work(own_program, run):
    folder, environment = own_program
    library = str(BUILD / "lib")  # an installed one is where compilers and loaders look
    said = run_all(BY_HAND, folder, {**environment, "LIBRARY_PATH": library,
                                     "LD_LIBRARY_PATH": library})
    assert "that only a build with hooks has" in said
    assert "app 1.0" in said and "in the front: 100.00%" in said
    needed = run("readelf", "-d", folder / "app.front").stdout
    assert "libfrontload-prefetch.so.1" in needed
