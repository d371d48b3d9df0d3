"""frontload record --sample and frontload profile, end to end: a program of many functions, in
builds that have them in other orders."""

import os
import subprocess
import sys

import pytest
from compiled import compile_to
from frontload.profile import format as profile
from frontload.profile import sample
from places import BUILD, LLVM

COUNT = 600
TOUCHED = range(0, COUNT, 37)
SOURCE = "".join(f"""
__attribute__((noinline)) void f{i}(void) {{ __asm__ volatile(".skip 200, 0x90"); }}
""" for i in range(COUNT)) + f"""
#include <unistd.h>
/* Of a function that returns early, further pages are not touched. */
__asm__(".section .text.large,\\"ax\\"; .globl large; .type large, @function\\n"
        "large: ret; .skip 12000; .size large, .-large; .text");
void large(void);
int main(int count, char **words) {{
  large();
  {" ".join(f"f{i}();" for i in TOUCHED)}
  if (count > 1) {{ write(1, "ready", 5); pause(); }}
  return 7;
}}
"""
NAMES = {"main", "large", *(f"f{i}" for i in TOUCHED)}

pytestmark = pytest.mark.skipif(not (BUILD / "lib/libfrontload-sample.so").exists(),
                                reason="the sampler is not built")


@pytest.fixture
def builds(tmp_path):
    """builds(n): as many builds of the program."""

    def builds(count):
        made = []
        for number in range(1, count + 1):
            folder = tmp_path / f"build{number}"
            folder.mkdir()
            made.append(compile_to(
                folder / "app", LLVM / "clang", "-O1", "-ffunction-sections", "app.c",
                "-fuse-ld=lld", "-Wl,--build-id", f"-Wl,--shuffle-sections=.text.*={number}",
                sources={"app.c": SOURCE}))
        return made

    return builds


@pytest.fixture
def frontload(tmp_path):
    """frontload(*words): runs the command of the build."""

    def frontload(*words, code=0):
        result = subprocess.run(
            [sys.executable, "-m", "frontload", *map(str, words)], cwd=tmp_path, text=True,
            capture_output=True, timeout=120,
            env=os.environ | {"FRONTLOAD_BINDIR": str(BUILD / "bin")})
        assert result.returncode == code, f"exit {result.returncode}\n{result.stderr}"
        return result

    return frontload


def sampled(frontload, tmp_path, builds):
    for program in builds:
        frontload("record", "--sample", "-o", "samples", "--", program, code=7)
    samples = sample.find(tmp_path / "samples")
    if not all(touched.exact for path in samples for touched in sample.read(path).touched):
        pytest.skip("needs userfaultfd of Linux 6.7")
    return samples


def names(path) -> set[str]:
    return {name.name.decode() for name in profile.read(path).touches}


def test_names_from_pages_alone(frontload, builds, tmp_path):
    """Of 600 functions in five orders, those that were touched are told, and hardly another."""
    samples = sampled(frontload, tmp_path, builds(5))
    result = frontload("profile", "samples", "-o", "app.startup")
    found = names(tmp_path / "app.startup")
    assert found >= NAMES and len(found - NAMES) < 40, result.stderr
    made = profile.read(tmp_path / "app.startup")
    assert (made.program, made.runs) == (b"app", 5)
    assert len(samples) == 5


def test_the_order_of_samples_does_not_count(frontload, builds, tmp_path):
    """The same samples give the same bytes."""
    samples = sampled(frontload, tmp_path, builds(3))
    frontload("profile", *samples, "-o", "one.startup")
    frontload("profile", *reversed(samples), "-j", "1", "-o", "other.startup")
    assert (tmp_path / "one.startup").read_bytes() == (tmp_path / "other.startup").read_bytes()


def test_one_build_clears_pages_and_says_so(frontload, builds, tmp_path):
    """One build tells what was not touched, and a note says what would tell more."""
    sampled(frontload, tmp_path, builds(1))
    result = frontload("profile", "samples", "-o", "app.startup")
    assert names(tmp_path / "app.startup") >= NAMES
    assert "these are samples of one build" in result.stderr


def test_known_names_keep_their_order(frontload, builds, tmp_path):
    """With an older profile, what it knows comes first, in its order."""
    sampled(frontload, tmp_path, builds(4))
    known = ["f370", "main", "f0", "f74"]
    old = profile.from_run(b"app", [profile.Name("function", "text", each.encode())
                                    for each in known])
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    frontload("profile", "samples", "--known", "old.startup", "-o", "app.startup")
    made = profile.read(tmp_path / "app.startup")
    ranked = [name.name.decode() for name, _ in
              sorted(made.touches.items(), key=lambda entry: entry[1].rank)]
    assert [name for name in ranked if name in known] == known and ranked[:4] == known


def test_samples_merge_with_other_inputs(frontload, builds, tmp_path):
    """Beside a profile, samples count as more runs."""
    sampled(frontload, tmp_path, builds(3))
    old = profile.from_run(b"app", [profile.Name("function", "text", b"f1"),
                                    profile.Name("function", "text", b"main")])
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    frontload("profile", "samples", "old.startup", "-o", "app.startup")
    made = profile.read(tmp_path / "app.startup")
    assert made.runs == 4
    assert made.touches[profile.Name("function", "text", b"main")].runs == 4
    assert profile.Name("function", "text", b"f1") in made.touches


def test_builds_that_moved_are_given(frontload, builds, tmp_path):
    """--binary may be repeated: the build-id says which is which; another is refused."""
    made = builds(2)
    sampled(frontload, tmp_path, made)
    moved = []
    for number, program in enumerate(made):
        moved.append(program.rename(tmp_path / f"moved{number}"))
    given = [word for path in moved for word in ("--binary", path)]
    frontload("profile", "samples", *given, "-o", "app.startup")
    assert names(tmp_path / "app.startup") >= NAMES
    result = frontload("profile", "samples", "--binary", moved[0], "-o", "no.startup", code=65)
    assert "its build-id is" in result.stderr
    frontload("profile", "samples", "--binary", moved[0], "--allow-partial", "-o", "one.startup")
    assert profile.read(tmp_path / "one.startup").runs == 1


def test_a_command_that_does_not_end(frontload, builds, tmp_path):
    """What waits for ever is sampled from outside when it is ready, and ended."""
    (program,) = builds(1)
    frontload("record", "--sample", "--until-output", "ready", "-o", "samples", "--", program,
              "wait")
    (path,) = sample.find(tmp_path / "samples")
    frontload("profile", "samples", "-o", "app.startup")
    assert sample.read(path).main.name == "app" and path.stat().st_mode & 0o777 == 0o600
    assert names(tmp_path / "app.startup") >= NAMES


def test_no_sample(frontload, tmp_path):
    """A command that leaves none is told, with what to do; the new folder is gone."""
    result = frontload("record", "--sample", "-o", "samples", "--", "sh", "-c", "kill -9 $$",
                       code=137)
    assert "no sample was written" in result.stderr and "--until-" in result.stderr
    assert not (tmp_path / "samples").exists()


@pytest.mark.parametrize("words, said", [
    (["--sample", "--data"], "--sample knows pages and no functions"),
    (["--sample", "--with", "runtime"], "--sample knows pages and no functions"),
    (["--sample", "--files"], "--files records files and no functions"),
    (["--page-order"], "--page-order is for --sample")])
def test_options_that_do_not_go_together(frontload, words, said):
    """A wrong command line says why."""
    assert said in frontload("record", *words, "--", "true", code=2).stderr


def test_a_damaged_sample_among_others(frontload, builds, tmp_path):
    """It ends the merge, or is left out where that is allowed."""
    samples = sampled(frontload, tmp_path, builds(2))
    samples[0].chmod(0o600)
    samples[0].write_bytes(samples[0].read_bytes()[:-1])
    result = frontload("profile", "samples", "-o", "app.startup", code=65)
    assert "truncated" in result.stderr
    result = frontload("profile", "samples", "--allow-partial", "-o", "app.startup")
    assert profile.read(tmp_path / "app.startup").runs == 1


def test_page_order(frontload, builds, tmp_path):
    """Where perf may record faults, names come in the order of first touch."""
    for program in builds(4):
        result = subprocess.run(
            [sys.executable, "-m", "frontload", "record", "--sample", "--page-order", "-o",
             "samples", "--", program], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"FRONTLOAD_BINDIR": str(BUILD / "bin")})
        if "perf cannot record" in result.stderr:
            pytest.skip(result.stderr)
    samples = [sample.read(path) for path in sample.find(tmp_path / "samples")]
    if not all(each.touched[each.modules.index(each.main)].exact for each in samples):
        pytest.skip("needs userfaultfd of Linux 6.7")
    assert all(each.touched[each.modules.index(each.main)].ordered for each in samples)
    frontload("profile", "samples", "-o", "app.startup")
    made = profile.read(tmp_path / "app.startup")
    rank = {name.name.decode(): touch.rank for name, touch in made.touches.items()}
    first, last = [rank[f"f{i}"] for i in TOUCHED[:5]], [rank[f"f{i}"] for i in TOUCHED[-5:]]
    assert sum(first) < sum(last)
