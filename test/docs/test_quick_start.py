"""The quick start, and the steps by hand: their commands are run, as they stand there, on a small
program."""

import os
import subprocess
from pathlib import Path

import pytest
from documentation import ROOT
from pages import tokens

QUICK_START = ROOT / "docs/quick-start.md"
BY_HAND = ROOT / "docs/how-to/by-hand.md"
NOT_RUN = "<!-- not run by the tests"

PROGRAM = {
    "CMakeLists.txt": """\
cmake_minimum_required(VERSION 3.25)
project(app CXX)
add_executable(app app.cpp version.cpp work.cpp)
""",
    "app.cpp": """
        #include <cstdio>
        #include <cstring>
        const char *version();
        int work(int);
        int main(int argc, char **argv) {
          if (argc > 1 && !std::strcmp(argv[1], "--version"))
            return std::puts(version()) < 0;
          return work(argc);
        }""",
    "version.cpp": """
        #include <map>
        #include <string>
        static std::map<std::string, std::string> known = {{"app", "app 1.0"}, {"lib", "lib 2"}};
        const char *version() { return known["app"].c_str(); }""",
    "work.cpp": """
        #include <vector>
        int work(int n) {
          std::vector<int> all(n);
          for (int i = 0; i < n; ++i)
            all[i] = i * i;
          return all.back();
        }""",
}


def commands(page: Path) -> list[str]:
    """The blocks of commands of a page, but those that it says are not run."""
    found, before = [], ""
    for token in tokens(page.read_text()):
        if token.type == "fence" and token.info == "sh" and not before.startswith(NOT_RUN):
            found.append(token.content)
        before = token.content if token.type == "html_block" else ""
    return found


def run_all(page: Path, folder: Path, environment: dict) -> subprocess.CompletedProcess:
    """Runs all commands of a page one after the other, in one shell."""
    script = "set -eux\n" + "\n".join(commands(page))
    result = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, timeout=600,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


@pytest.fixture(scope="module")
def own_program(tmp_path_factory, build):
    """own_program(): a new folder with the small program, and an environment to work in there."""
    def own_program():
        folder = tmp_path_factory.mktemp("own program")
        for name, text in PROGRAM.items():
            (folder / name).write_text(text)
        return folder, {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
                        "CMAKE_PREFIX_PATH": str(build), "CMAKE_GENERATOR": "Ninja"}

    return own_program


@pytest.fixture(scope="module")
def done(own_program):
    """The folder of the small program after the quick start, and what was said."""
    folder, environment = own_program()
    for step in (["-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release"], ["--build", "build"]):
        subprocess.run(["cmake", *step], cwd=folder, env=environment, check=True)
    return folder, run_all(QUICK_START, folder, environment)


def test_the_page_has_commands_for_each_step():
    text = QUICK_START.read_text()
    assert len(commands(QUICK_START)) >= text.count("\n## ") - 2
    for what in ("frontload auto", "frontload init", "frontload check", "frontload-cc"):
        assert any(what in block for block in commands(QUICK_START)), what


def test_every_command_works(done):
    folder, result = done
    for made in ("build/app.front", "app.startup", "build/app", "traces", "app.map", "app"):
        assert (folder / made).exists(), made
    assert "program with a front" in result.stdout


def test_the_lines_for_cmake_are_those_that_init_writes(done):
    folder, _ = done
    lines = next(token.content for token in tokens(QUICK_START.read_text())
                 if token.type == "fence" and token.info == "cmake")
    assert (folder / "CMakeLists.txt").read_text().endswith("\n" + lines)


def test_the_programs_have_a_front(done, run):
    folder, _ = done
    for program in ("build/app", "build/app.front", "app"):
        assert ".note.frontload" in run("readelf", "-SW", folder / program).stdout, program


def test_the_steps_by_hand_work(own_program, run):
    folder, environment = own_program()
    result = run_all(BY_HAND, folder, environment)
    assert "app 1.0" in result.stdout
    assert "in the front: 100.00%" in result.stdout
    needed = run("readelf", "-d", folder / "app.front").stdout
    assert "libfrontload-prefetch.so.1" in needed
