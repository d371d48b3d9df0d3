"""An ld.frontload one of whose hooks lld does not call: no file is written, and it says why."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from linking import BUILD, LD_LLD, check_run, compile_text
from places import ROOT

SYMBOLS = (ROOT / "lldplugin/lld/lld_symbols.h").read_text()
PROGRAM = """int helper(int x) { return x + 1; }
const char *text(void) { return "a string of startup"; }
int main(void) { return helper(-1) + (text() == 0); }
"""
PROFILE = """frontload-startup-profile 2
program app
runs 1
data-runs 1
function\ttext\t1\t+1\t16\tmain
function\ttext\t1\t+1\t16\thelper
function\ttext\t1\t+1\t16\ttext
string\trodata\t1\t+1\t16\ta string of startup
"""
# What a message calls a hook, and CMake.
HOOKS = {
    "readFile": "READ_FILE",
    "createObjFile": "CREATE_OBJ_FILE",
    "parseFiles": "PARSE_FILES",
    "splitSections": "SPLIT_SECTIONS_64LE",
    "xxh3_64bits": "XXH3_64BITS",
    "LinkerScript::processSectionCommands": "PROCESS_SECTION_COMMANDS",
    "StringMatcher::match": "MATCH",
    "getPriority": "GET_PRIORITY",
    "FileOutputBuffer::create": "CREATE_OUTPUT",
    "unlinkAsync": "UNLINK_ASYNC",
}


@pytest.fixture(scope="module")
def link_command() -> list[str]:
    """How ld.frontload is linked."""
    ninja = shutil.which("ninja")
    if ninja is None or not (BUILD / "build.ninja").exists():
        pytest.skip("needs a build by ninja, which tells its commands")
    commands = check_run(ninja, "-C", BUILD, "-t", "commands", "bin/ld.frontload").splitlines()
    (text,) = [part for part in commands[-1].split("&&") if "-o bin/ld.frontload" in part]
    return shlex.split(text)


def without_hook(folder: Path, command: list[str], mangled: str) -> Path:
    """Links ld.frontload as if lld called one of its own functions in a way that --wrap does not
    reach. What ld.frontload calls by the name for the wrapped one is then that function itself."""
    folder.mkdir()
    (folder / "ld.lld").symlink_to(LD_LLD)
    words = []
    for word in command:
        if word.endswith(("lld_hooks.cpp.o", "written_files.cpp.o")):
            renamed = folder / Path(word).name
            check_run("objcopy", f"--redefine-sym=__real_{mangled}={mangled}", BUILD / word,
                      renamed)
            word = renamed
        words.append(word)
    words.remove(f"-Wl,--wrap={mangled}")
    words[words.index("-o") + 1] = folder / "ld.frontload"
    check_run(*words, f"-B{folder}", "-fuse-ld=lld", cwd=BUILD)
    return folder / "ld.frontload"


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_is_not_called(tmp_path, link_command, name):
    program = compile_text(tmp_path, "a.c", PROGRAM)
    profile, output = tmp_path / "app.startup", tmp_path / "out"
    profile.write_text(PROFILE)
    output.write_text("precious")
    mangled = re.search(rf'#define {HOOKS[name]} "(\w+)"', SYMBOLS)[1]
    linker = without_hook(tmp_path / "linker", link_command, mangled)
    before = sorted(tmp_path.iterdir())
    result = subprocess.run([linker, program, "-e", "main", "-o", output,
                             f"--startup-profile={profile}"], capture_output=True, text=True)
    assert result.returncode == 1, result.stderr
    assert f"error: this lld has not called {name}, on which the front relies" in result.stderr
    if name == "unlinkAsync":  # its work is what was not prevented
        before.remove(output)
    else:
        assert output.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


def test_all_hooks_are_called(tmp_path):
    """The same program with all of them."""
    program = compile_text(tmp_path, "a.c", PROGRAM)
    (tmp_path / "app.startup").write_text(PROFILE)
    check_run(BUILD / "bin/ld.frontload", program, "-e", "main", "-o", tmp_path / "out",
              f"--startup-profile={tmp_path / 'app.startup'}")
