"""The quick start: its commands are run, as they stand there, on a small program."""

import os
import subprocess

import pytest
from documentation import ROOT
from pages import tokens

QUICK_START = ROOT / "docs/quick-start.md"
NOT_RUN = "<!-- not run by the tests"

PROGRAM = {
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


def commands() -> list[str]:
    """The blocks of commands, but those that the page says are not run."""
    found, before = [], ""
    for token in tokens(QUICK_START.read_text()):
        if token.type == "fence" and token.info == "sh" and not before.startswith(NOT_RUN):
            found.append(token.content)
        before = token.content if token.type == "html_block" else ""
    return found


@pytest.fixture(scope="module")
def done(tmp_path_factory, build, llvm):
    """The folder in which all commands have been run one after the other, in one shell."""
    folder = tmp_path_factory.mktemp("own program")
    for name, text in PROGRAM.items():
        (folder / name).write_text(text)
    subprocess.run([llvm / "clang++", "-O2", "-ffunction-sections", "-fdata-sections", "-c",
                    *PROGRAM], cwd=folder, check=True)
    script = "set -eu\n" + "".join(f"echo '## block {number}' >&2\n{text}"
                                   for number, text in enumerate(commands()))
    environment = {**os.environ, "PATH": f"{build / 'bin'}:{os.environ['PATH']}",
                   "TMPDIR": str(folder)}
    result = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, timeout=600,
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder, result


def test_the_page_has_commands_for_each_step():
    text = QUICK_START.read_text()
    assert len(commands()) >= text.count("\n## ") - 2
    for verb in ("info", "record", "profile", "check", "measure", "predict"):
        assert any(f"frontload {verb}" in block for block in commands()), verb


def test_every_command_works(done):
    folder, result = done
    assert "app 1.0" in result.stdout
    for made in ("app", "app.map", "traces", "app.startup", "app.front"):
        assert (folder / made).exists(), made


def test_the_profile_is_in_the_front(done):
    _, result = done
    assert "in the front: 100.00%" in result.stdout


def test_the_program_with_a_front_asks_for_it(done):
    folder, _ = done
    needed = subprocess.run(["readelf", "-d", folder / "app.front"], capture_output=True, text=True)
    assert "libfrontload-prefetch.so.1" in needed.stdout
