"""An ld.frontload one of whose hooks lld does not call: no file is written, and it says why."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from abilities import needs
from linking import BUILD, LD_LLD, check_run, compile_text, measured, write_profile
from places import ROOT

SYMBOLS = (ROOT / "lldplugin/lld/lld_symbols.h").read_text()
PROGRAM = """int helper(int x) { return x + 1; }
int main(void) { return helper(-1); }
"""
# What a message calls a hook, and lld_symbols.h.
HOOKS = {
    "readFile": "ReadFile", "createObjFile": "CreateObjFile", "parseFiles": "ParseFiles",
    "splitSections": "SplitSections64LE",
    "LinkerScript::processSectionCommands": "ProcessSectionCommands",
    "StringMatcher::match": "Match", "getPriority": "GetPriority",
    "FileOutputBuffer::create": "CreateOutput", "unlinkAsync": "UnlinkAsync"}


def without_hook(folder: Path, mangled: str) -> Path:
    """Links ld.frontload as if lld called one of its own functions in a way that --wrap does not
    reach. What ld.frontload calls by the name for the wrapped one is then that function itself."""
    folder.mkdir()
    (folder / "ld.lld").symlink_to(LD_LLD)
    commands = check_run("ninja", "-C", BUILD, "-t", "commands", "bin/ld.frontload").splitlines()
    (text,) = [part for part in commands[-1].split("&&") if "-o bin/ld.frontload" in part]
    words = shlex.split(text)
    for place, word in enumerate(words):
        if word.endswith(".o"):
            words[place] = folder / Path(word).name
            check_run("objcopy", f"--redefine-sym=__real_{mangled}={mangled}", BUILD / word,
                      words[place])
    words.remove(f"-Wl,--wrap={mangled}")
    words[words.index("-o") + 1] = folder / "ld.frontload"
    check_run(*words, f"-B{folder}", "-fuse-ld=lld", cwd=BUILD)
    return folder / "ld.frontload"


@needs("program:ninja", "built:build.ninja")
@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_that_is_not_called(tmp_path, name):
    """In a link of `out`, which is there already, that every hook is needed for."""
    mangled = re.search(rf'FRONTLOAD_HOOK\({HOOKS[name]}, "(\w+)"', SYMBOLS)[1]
    linker, output = without_hook(tmp_path / "linker", mangled), tmp_path / "out"
    output.write_text("precious")
    profile = write_profile(tmp_path, *map(measured, ("main", "helper")), data_runs=1)
    program = compile_text(tmp_path, "a.c", PROGRAM)
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
