"""Samples (frontload record --sample), and the profile of the pages that several builds touched."""

import os

import numpy as np
import pytest
from abilities import needs
from frontload.elf import file as elf
from frontload.profile import format as profile
from frontload.profile import sample
from frontload.profile.sample import PageSample, TouchedPages
from frontload.profile.trace import Module

TOUCHED = range(0, 600, 37)
SOURCE = "".join(f"""
__attribute__((noinline)) void f{i}(void) {{ __asm__ volatile(".skip 200, 0x90"); }}
""" for i in range(600)) + f"""
#include <unistd.h>
int main(int count, char **words) {{
  {" ".join(f"f{i}();" for i in TOUCHED)}
  if (count > 1) {{ write(1, "ready", 5); pause(); }}
  return 7;
}}
"""
NAMES = {"main", *(f"f{i}" for i in TOUCHED)}


@pytest.fixture
def sampled(link, tmp_path):
    """sampled(number): a build of the program, whose functions lie in an order of their own, and a
    sample of it, which has the pages of the file where NAMES begin."""

    def sampled(number):
        folder = tmp_path / f"build{number}"
        folder.mkdir()
        program = link(f"-Wl,--shuffle-sections=.text.*={number}", source=SOURCE,
                       name=f"{folder.name}/app")
        (text,) = [each for each in elf.read(program.path).segments
                   if 0 <= program.addresses["main"] - each.address < each.file_bytes]
        pages = {(program.addresses[name] - text.address + text.offset) // 4096 for name in NAMES}
        taken = folder / f"app{sample.SUFFIX}"
        taken.write_bytes(sample.to_bytes(PageSample(
            "", [Module(os.fspath(program.path), program.build_id, True)],
            [TouchedPages(np.array(sorted(pages)), True, False)], 4096, 7, number, False, "")))
        return program, taken

    return sampled


def names(path) -> list[str]:
    """Those of a profile, in its order."""
    return [name.name.decode() for name, _ in profile.read(path).in_order()]


def test_pages_of_several_builds_tell_names(sampled, startup, cli, tmp_path):
    """Those that were touched, and hardly any other, in whatever order the samples come."""
    taken = [path for _, path in map(sampled, range(1, 6))]
    cli("profile", *taken, "-o", tmp_path / "p")
    found = set(names(tmp_path / "p"))
    assert found >= NAMES and len(found - NAMES) < 40 and profile.read(tmp_path / "p").runs == 5
    cli("profile", *reversed(taken), "-o", tmp_path / "q")
    assert (tmp_path / "p").read_bytes() == (tmp_path / "q").read_bytes()
    assert "these are samples of one build" in cli("profile", taken[0]).err
    known = ["f370", "main", "f0", "f74"]
    cli("profile", *taken, "--known", startup(*known), "-o", tmp_path / "p")
    assert names(tmp_path / "p")[:4] == known
    assert "sample of app, process 7" in cli("show", taken[0]).out
    taken[0].write_bytes(taken[0].read_bytes()[:-1])
    assert "truncated" in cli("profile", *taken, code=65).err


@needs("built:lib/libfrontload-sample.so")
@pytest.mark.usefixtures("tools")
def test_a_command_is_sampled(sampled, cli, tmp_path):
    """By what it writes when it ends; from outside, and ended, if it is waited for."""
    program, _ = sampled(1)
    for words, more, code in (([], [], 7), (["--until-output", "ready"], ["wait"], 0)):
        folder = tmp_path / f"samples{code}"
        cli("record", "--sample", *words, "-o", folder, "--", program.path, *more, code=code)
        (path,) = sample.find(folder)
        assert sample.read(path).main.name == "app" and path.stat().st_mode & 0o777 == 0o600
        cli("profile", folder, "-o", tmp_path / "p")
        assert set(names(tmp_path / "p")) >= NAMES
