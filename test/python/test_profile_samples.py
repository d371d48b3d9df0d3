"""Samples (frontload record --sample): their format, and the profile that frontload profile makes
of the pages that several builds have touched."""

import os
import struct

import numpy as np
import pytest
from abilities import needs
from frontload.base.errors import BadData
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


def test_builds_that_moved_and_damaged_samples(sampled, cli, tmp_path):
    """--binary may be repeated, and the build-id says which is which."""
    programs, taken = zip(*map(sampled, (1, 2)), strict=True)
    moved = [program.path.rename(tmp_path / f"moved{number}")
             for number, program in enumerate(programs)]
    given = [word for path in moved for word in ("--binary", path)]
    cli("profile", *taken, *given, "-o", tmp_path / "p")
    assert set(names(tmp_path / "p")) >= NAMES
    assert "its build-id is" in cli("profile", *taken, *given[:2], code=65).err
    taken[0].write_bytes(taken[0].read_bytes()[:-1])
    assert "truncated" in cli("profile", *taken, *given, code=65).err
    cli("profile", *taken, *given, "--allow-partial", "-o", tmp_path / "p")
    assert profile.read(tmp_path / "p").runs == 1


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
    result = cli("record", "--sample", "-o", tmp_path / "none", "--", "sh", "-c", "kill -9 $$",
                 code=137)
    assert "no sample was written" in result.err and "--until-" in result.err
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("words, said", [
    (["--sample", "--data"], "--sample knows pages and no functions"),
    (["--sample", "--files"], "--files records files and no functions"),
    (["--page-order"], "--page-order is for --sample"),
    (["--slices", "10"], "--slices is for --sample"),
    (["--sample", "--slices", "1001"], "'1001' is not a number from 1 to 1000")])
def test_options_that_do_not_go_together(cli, words, said):
    assert said in cli("record", *words, "--", "true", code=2).err


def header(body: bytes = b"", order="<", **fields) -> bytes:
    """A sample by hand, as frontload_sample_format.h declares it."""
    values = {"byte_order": 1 if order == "<" else 2, "end": 2, "machine": 62, "major": 1,
              "minor": 0, "header_size": 96, "size": 96 + len(body), "page_size": 4096, "pid": 7,
              "run": 11, "modules": 1, "forked": 0, "role": b""} | fields
    return struct.pack(order + "8sBBHHHIIIIQIB3x32s16x", b"\x89FLS\r\n\x1a\n",
                       *values.values()) + body


# The main program, exact; build-id ab; path /a; two ranges: pages 3 and 4, and 300.
BODY = bytes([3, 1, 0xab, 2, *b"/a", 2, 3, 2, 0xa7, 2, 1])


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_sample_byte_by_byte(order):
    """What the header of the format declares is what is read; however it is cut, it is refused."""
    whole = header(BODY, order, role=b"tester", forked=1)
    read = sample.parse(whole, "s")
    assert read.main == Module("/a", b"\xab", True)
    assert read.touched[0].pages.tolist() == [3, 4, 300] and read.touched[0].exact
    assert (read.pid, read.run, read.forked, read.role) == (7, 11, True, "tester")
    for size in range(len(whole)):
        with pytest.raises(BadData):
            sample.parse(whole[:size], "s")


@pytest.mark.parametrize("content, said", [
    (b"", "is empty"), (b"hello", "not a sample: wrong magic"),
    (header(BODY, byte_order=3), "byte order 3 is neither 1 (little) nor 2 (big)"),
    (header(BODY, major=3), "sample format 3 is none of 1 to 2, which this frontload reads"),
    (header(BODY, page_size=5000), "pages of 5000 bytes"),
    (header(BODY, role=b"two words"), "its role is"),
    (header(BODY + b"x"), "more behind its last file"),
    (header(bytes([1, 0, 1, ord("/"), 1, 5, 0])), "a range of 0 pages from page 5 on")])
def test_what_cannot_be_is_refused(content, said):
    with pytest.raises(BadData) as problem:
        sample.parse(content, "s")
    assert said in str(problem.value)
