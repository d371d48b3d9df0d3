"""frontload record --sample and frontload profile, end to end: a program of many functions, in
builds that have them in other orders."""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from compiled import compile_to
from frontload.elf import file as elf
from frontload.profile import format as profile
from frontload.profile import sample
from frontload.profile.from_samples import Build, Process
from frontload.profile.sample import PageSample, Slice, TouchedPages
from frontload.profile.startup_profile import Name, from_run
from frontload.profile.trace import Module
from frontload.recording import live_pages, page_order, sampled
from left_processes import wait_until_none
from places import BUILD, LLVM
from trace_writer import build_id

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


def take_samples(frontload, tmp_path, builds):
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
    samples = take_samples(frontload, tmp_path, builds(5))
    result = frontload("profile", "samples", "-o", "app.startup")
    found = names(tmp_path / "app.startup")
    assert found >= NAMES and len(found - NAMES) < 40, result.stderr
    made = profile.read(tmp_path / "app.startup")
    assert (made.program, made.runs) == (b"app", 5)
    assert len(samples) == 5


def test_the_order_of_samples_does_not_count(frontload, builds, tmp_path):
    """The same samples give the same bytes."""
    samples = take_samples(frontload, tmp_path, builds(3))
    frontload("profile", *samples, "-o", "one.startup")
    frontload("profile", *reversed(samples), "-j", "1", "-o", "other.startup")
    assert (tmp_path / "one.startup").read_bytes() == (tmp_path / "other.startup").read_bytes()


def test_one_build_clears_pages_and_says_so(frontload, builds, tmp_path):
    """One build tells what was not touched, and a note says what would tell more."""
    take_samples(frontload, tmp_path, builds(1))
    result = frontload("profile", "samples", "-o", "app.startup")
    assert names(tmp_path / "app.startup") >= NAMES
    assert "these are samples of one build" in result.stderr


def test_known_names_keep_their_order(frontload, builds, tmp_path):
    """With an older profile, what it knows comes first, in its order."""
    take_samples(frontload, tmp_path, builds(4))
    known = ["f370", "main", "f0", "f74"]
    old = from_run(b"app", [Name("function", "text", each.encode())
                                    for each in known])
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    frontload("profile", "samples", "--known", "old.startup", "-o", "app.startup")
    made = profile.read(tmp_path / "app.startup")
    ranked = [name.name.decode() for name, _ in
              sorted(made.touches.items(), key=lambda entry: entry[1].rank)]
    assert [name for name in ranked if name in known] == known and ranked[:4] == known


def hashed(tmp_path, number):
    """A release of the program that has another hash in each name, as Rust has."""
    folder = tmp_path / f"release{number}"
    folder.mkdir()
    source = re.sub(r"void f([0-9]+)\(void\) {",
                    rf'void f\1(void) __asm__("_ZN3app1f17h{number:08x}0000\1E");\n'
                    r"void f\1(void) {", SOURCE)
    source = re.sub(r"_ZN3app1f17h([0-9a-f]{12})([0-9]+)E", lambda found: (
        f"_ZN3app{1 + len(found[2])}f{found[2]}17h{found[1]}0000E"), source)
    return compile_to(
        folder / "app", LLVM / "clang", "-O1", "-ffunction-sections", "app.c", "-fuse-ld=lld",
        "-Wl,--build-id", f"-Wl,--shuffle-sections=.text.*={number}", sources={"app.c": source})


def test_releases_whose_names_have_other_hashes(frontload, tmp_path):
    """Names that a link takes for the same are of one function, which is in the profile once."""
    releases = [hashed(tmp_path, number) for number in range(1, 6)]
    take_samples(frontload, tmp_path, releases)
    frontload("profile", "samples", "-o", "app.startup")
    found = [each for each in names(tmp_path / "app.startup") if each.startswith("_ZN3app")]
    plain = {re.sub(r"_ZN3app[0-9](f[0-9]+)17h.*", r"\1", each) for each in found}
    touched = {f"f{i}" for i in TOUCHED}
    assert len(found) == len(plain)
    assert plain >= touched and len(plain - touched) < 40


def test_names_with_other_hashes_are_known(frontload, tmp_path):
    """They keep the order that an older release had."""
    take_samples(frontload, tmp_path, [hashed(tmp_path, number) for number in (1, 2, 3, 4)])
    old = from_run(b"app", [Name("function", "text", each) for each in (
        b"_ZN3app4f37017h0000000000000000E", b"main", b"_ZN3app3f7417h0000000000000000E")])
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    frontload("profile", "samples", "--known", "old.startup", "-o", "app.startup")
    ranked = [name.name.decode() for name, _ in
              profile.read(tmp_path / "app.startup").in_order()]
    assert [re.sub("17h.*", "", each) for each in ranked[:3]] == [
        "_ZN3app4f370", "main", "_ZN3app3f74"]


def test_samples_merge_with_other_inputs(frontload, builds, tmp_path):
    """Beside a profile, samples count as more runs."""
    take_samples(frontload, tmp_path, builds(3))
    old = from_run(b"app", [Name("function", "text", b"f1"),
                                    Name("function", "text", b"main")])
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    frontload("profile", "samples", "old.startup", "-o", "app.startup")
    made = profile.read(tmp_path / "app.startup")
    assert made.runs == 4
    assert made.touches[Name("function", "text", b"main")].runs == 4
    assert Name("function", "text", b"f1") in made.touches


def test_builds_that_moved_are_given(frontload, builds, tmp_path):
    """--binary may be repeated: the build-id says which is which; another is refused."""
    made = builds(2)
    take_samples(frontload, tmp_path, made)
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


@pytest.mark.parametrize("words", [[], ["--until-output", "ready"]])
def test_slices(frontload, builds, monkeypatch, tmp_path, words):
    """All slices together have the pages of a whole sample; from outside as well."""
    (program,) = builds(1)
    command = ["--", program, *["wait"] * bool(words)]
    how = ["record", "--sample", *words, "-o"]
    code = 0 if words else 7
    frontload(*how, "whole", *command, code=code)
    (whole,) = map(sample.read, sample.find(tmp_path / "whole"))
    if not whole.touched[0].exact:
        pytest.skip("needs userfaultfd of Linux 6.7")
    told = {}
    while len(told) < 4:
        shutil.rmtree(tmp_path / "samples", ignore_errors=True)
        frontload(*how, "samples", "--slices", "4", *command, code=code)
        (path,) = sample.find(tmp_path / "samples")
        found = sample.read(path)
        mine = found.touched[found.modules.index(found.main)]
        assert mine.exact and mine.part.count == 4 and mine.part.has(mine.pages).all()
        path.rename(tmp_path / f"{mine.part.number}{sample.SUFFIX}")
        told[mine.part.number] = set(mine.pages.tolist())
    assert set(whole.touched[whole.modules.index(whole.main)].pages.tolist()) - set().union(
        *told.values()) <= set(range(8))  # around what was touched before the sampler began
    samples = [tmp_path / f"{number}{sample.SUFFIX}" for number in told]
    result = frontload("profile", *samples, "-o", "app.startup")
    assert names(tmp_path / "app.startup") >= NAMES and "slices" not in result.stderr


def test_a_slice_alone_loses_nothing(cli, link, made, tmp_path):
    """What a sample does not tell of is neither touched nor untouched: an older profile's names
    stay, and no others come. A note says how much is told."""
    app = link(flags=ALIGNED)
    f1, f2 = pages_of(app, "f1", "f2")
    taken = made("one", app.path, [f2], part=Slice(1, 1000, f2 % 1000))
    old = from_run(b"app", [Name("function", "text", b"f1")])
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    result = cli("profile", taken, "--known", tmp_path / "old.startup", "-o",
                 tmp_path / "app.startup")
    assert names(tmp_path / "app.startup") == {"f1", "f2"}
    assert "tell of" in result.err and "three times as many samples" in result.err
    # Where the page is told, its name goes.
    also = made("other", app.path, [], part=Slice(1, 1000, f1 % 1000), run=2)
    cli("profile", taken, also, "--known", tmp_path / "old.startup", "-o",
        tmp_path / "app.startup")
    assert names(tmp_path / "app.startup") == {"f2"}


def test_a_page_counts_among_the_samples_that_tell_of_it(cli, link, made, tmp_path):
    """What one in eleven samples tells of is touched by all of these."""
    app = link(flags=ALIGNED)
    f1, f2 = pages_of(app, "f1", "f2")
    taken = [made(f"of{run}", app.path, [f2], part=Slice(1, 1000, f2 % 1000), run=run + 1)
             for run in range(10)]
    taken.append(made("other", app.path, [f1], part=Slice(1, 1000, f1 % 1000), run=11))
    cli("profile", *taken, "-o", tmp_path / "app.startup")
    touches = {name.name: touch.runs for name, touch in
               profile.read(tmp_path / "app.startup").touches.items()}
    assert touches == {b"f2": 11, b"f1": 11}


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
    (["--page-order"], "--page-order is for --sample"),
    (["--slices", "10"], "--slices is for --sample"),
    (["--sample", "--slices", "1001"], "'1001' is not a number from 1 to 1000")])
def test_options_that_do_not_go_together(frontload, words, said):
    """A wrong command line says why."""
    assert said in frontload("record", *words, "--", "true", code=2).stderr


def test_a_damaged_sample_among_others(frontload, builds, tmp_path):
    """It ends the merge, or is left out where that is allowed."""
    samples = take_samples(frontload, tmp_path, builds(2))
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


@pytest.fixture
def made(tmp_path):
    """made(name, program, pages, ...): writes a sample by hand."""

    def made(name, program, pages, *, exact=True, ordered=False, page_size=4096, pid=7, run=1,
             part=None):
        path = tmp_path / (name + sample.SUFFIX)
        path.write_bytes(sample.to_bytes(PageSample(
            "", [Module(os.fspath(program), build_id(program), True)],
            [TouchedPages(np.array(pages if ordered else sorted(pages), np.int64), exact, ordered,
                          part)],
            page_size, pid, run, False, "")))
        return path

    return made


def pages_of(program, *names) -> list[int]:
    """The pages of the file where functions begin."""
    (text,) = [each for each in elf.read(program.path).segments
               if each.address <= program.addresses["main"] < each.address + each.file_bytes]
    return [(program.addresses[name] - text.address + text.offset) // 4096 for name in names]


ALIGNED = ["-falign-functions=4096"]
OTHER_ID = f"-Wl,--build-id=0x{'ab' * 20}"


def test_samples_of_other_programs_only(cli, link, made, tmp_path):
    """They are left out and counted, and what the traces have is the profile."""
    app = link()
    trace = app.trace(tmp_path / "app.fltrace", "main", "f1")
    foreign = made("other", link(name="other").path, [1, 2])
    result = cli("profile", trace, foreign, "--program", "app", "--generation", "new", "-o",
                 tmp_path / "app.startup")
    assert "1 input of other programs left out" in result.err
    found = profile.read(tmp_path / "app.startup")
    assert names(tmp_path / "app.startup") == {"main", "f1"} and found.recorded_runs() == 1


def test_samples_of_other_builds_only(cli, link, made, tmp_path):
    """If the build-id refuses each, nothing is left to make a profile of."""
    (tmp_path / "other").mkdir()
    app, other = link(), link(OTHER_ID, name="other/app")
    taken = made("other", other.path, [1, 2])
    result = cli("profile", taken, "--binary", app.path, "--allow-partial", "-o",
                 tmp_path / "app.startup", code=65)
    assert "its build-id is" in result.err
    assert "no first touch in the inputs has a name" in result.err


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("sizes, kept", [([4096, 16384, 16384], 2), ([16384, 4096], 1)])
def test_page_sizes_do_not_mix(cli, link, made, tmp_path, sizes, kept, turn):
    """Most samples decide which size counts, else the smallest, wherever they stand."""
    app = link(flags=ALIGNED)
    samples = [made(f"of{number}", app.path,
                    {page * 4096 // size for page in pages_of(app, "main", "f1")},
                    page_size=size, run=number + 1) for number, size in enumerate(sizes)]
    cli("profile", *samples[::turn], "--allow-partial", "-o", tmp_path / "app.startup")
    assert profile.read(tmp_path / "app.startup").runs == kept
    result = cli("profile", *samples[::turn], "-o", tmp_path / "no.startup", code=65)
    wrong, right = (4096, 16384) if kept == 2 else (16384, 4096)
    assert f"is of pages of {wrong} bytes, others of {right}" in result.err


def test_samples_without_an_order_beside_one_with(cli, link, made, tmp_path):
    """They do not move what the other knows the order of."""
    app = link(flags=ALIGNED)
    order = ["f3", "f1", "main", "f2"]
    samples = [made("ordered", app.path, pages_of(app, *order), ordered=True)]
    samples += [made(f"not{run}", app.path, pages_of(app, *order, "f4"), run=run)
                for run in (2, 3, 4)]
    cli("profile", *samples, "-o", tmp_path / "app.startup")
    found = profile.read(tmp_path / "app.startup")
    ranked = [name.name.decode() for name, _ in found.in_order()]
    assert [name for name in ranked if name in order] == order
    assert ranked.index("f4") > ranked.index("f2")


@pytest.mark.parametrize("samples, there", [(3, True), (40, False)])
def test_what_one_start_in_some_touches(cli, link, made, tmp_path, samples, there):
    """Starts of one kind in three tell what only they need; one in forty went astray."""
    app = link(flags=ALIGNED)
    taken = [made(f"of{run}", app.path, pages_of(app, "main", *["f1"][run:]), run=run + 1)
             for run in range(samples)]
    cli("profile", *taken, "-o", tmp_path / "app.startup")
    found = names(tmp_path / "app.startup")
    assert "main" in found and ("f1" in found) == there


def test_a_known_name_on_a_page_of_others_keeps_its_share(cli, link, made, tmp_path):
    """The page is touched by all starts for what else is there, so it tells nothing of the name."""
    app = link()
    taken = [made(f"of{run}", app.path, pages_of(app, "main"), run=run + 1) for run in range(6)]
    old = from_run(b"app", [Name("function", "text", b"main")])
    old.add(from_run(b"app", [Name("function", "text", name)
                                      for name in (b"main", b"f1")]))
    old.add(from_run(b"app", [Name("function", "text", b"main")]))
    (tmp_path / "old.startup").write_bytes(profile.to_bytes(old))
    cli("profile", *taken, "--known", tmp_path / "old.startup", "-o", tmp_path / "app.startup")
    touches = {name.name: touch for name, touch in
               profile.read(tmp_path / "app.startup").touches.items()}
    assert (touches[b"main"].runs, touches[b"f1"].runs) == (6, 2)


@pytest.mark.parametrize("exact", [True, False])
def test_a_run_of_two_builds_is_one_run(cli, link, made, tmp_path, exact):
    """Its processes may have executed both."""
    one = link(flags=ALIGNED)
    (tmp_path / "next").mkdir()
    two = link(OTHER_ID, name="next/app", flags=ALIGNED)
    samples = [made(f"of{pid}", program.path, pages_of(program, "main", "f1"), pid=pid, exact=exact)
               for pid, program in enumerate((one, two), 7)]
    cli("profile", *samples, "-o", tmp_path / "app.startup")
    found = profile.read(tmp_path / "app.startup")
    assert found.runs == 1 and {"main", "f1"} <= names(tmp_path / "app.startup")
    samples.append(made("more", one.path, pages_of(one, "main"), run=2))
    result = cli("profile", *samples, "-o", tmp_path / "app.startup")
    assert profile.read(tmp_path / "app.startup").runs == 1 + exact
    assert exact or "windows of 64 KiB, of 1 run," in result.err


def test_functions_that_overlap_cost_no_more_than_the_file(compile, run, llvm, tmp_path):
    """A symbol of a few bytes may say that it covers any number of pages."""
    count = 2000
    compile("".join(f".globl s{i}; .type s{i},@function; s{i}: nop; .size s{i}, 1 << 20\n"
                    for i in range(count)), "many.o", language="assembler")
    run(llvm / "ld.lld", "--build-id", "-e", "s0", tmp_path / "many.o", "-o", tmp_path / "many")
    read = elf.read(tmp_path / "many")
    build = Build(read)
    build.add([Process(SimpleNamespace(linked=read), 4096,
                       TouchedPages(np.array([1]), True, False))], 1)
    group, page, reach = build.edges()
    pages = (tmp_path / "many").stat().st_size // 4096 + 1
    assert len(group) == len(page) == len(reach) <= count + 2 * pages
    assert sorted(group[reach == 1].tolist()) == list(range(count))


FORKS = """
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((weak)) void frontload_ready(void);
int main(int count, char **words) {
  if (words[1][0] == 'f' && !fork()) exit(0);
  if (words[1][0] == 'f') wait(0);
  if (words[1][0] == 'd' && fork()) exit(0);
  if (words[1][0] == 'r') frontload_ready();
  if (words[1][0] == 'e') return 0;
  if (count > 2) sleep(1);
  write(1, "ready", 5);
  pause();
}
"""


@pytest.fixture
def server(tmp_path):
    return compile_to(tmp_path / "server", LLVM / "clang", "-O1", "server.c",
                      sources={"server.c": FORKS})


@pytest.mark.parametrize("words, forked", [
    ('"$0" fork', [False, True]),  # the child has ended, and left its own sample
    ('"$0" ready', [False]),  # it has taken its own
    ('"$0" daemon later', [False, True])])  # the one that was executed has ended
def test_one_execution_is_one_run(frontload, server, tmp_path, words, forked):
    """Whoever takes the samples of its processes."""
    frontload("record", "--sample", "--until-output", "ready", "-o", "samples", "--", "sh", "-c",
              f"{words}; sleep 9", server)
    found = [each for each in map(sample.read, sample.find(tmp_path / "samples"))
             if each.main.name == "server"]
    assert sorted(each.forked for each in found) == forked
    assert len({each.run for each in found}) == 1


def test_several_executions_are_several_runs(frontload, server, tmp_path):
    """One that has ended before is none of the processes that are there when it is ready."""
    frontload("record", "--sample", "--until-output", "ready", "-o", "samples", "--", "sh", "-c",
              '"$0" end; "$0" fork', server)
    found = [each for each in map(sample.read, sample.find(tmp_path / "samples"))
             if each.main.name == "server"]
    runs = {}
    for each in found:
        runs.setdefault(each.run, []).append(each.forked)
    assert sorted(map(sorted, runs.values())) == [[False], [False, True]]


def test_samples_that_others_write_stay(frontload, server, tmp_path):
    """Of another recording into the same folder, also those that come once this one is ready."""
    (tmp_path / "other").write_bytes(b"a sample")
    late = tmp_path / "samples" / f"other.7{sample.SUFFIX}"
    frontload("record", "--sample", "--until-output", "ready", "-o", "samples", "--", "sh", "-c",
              f'trap "cp other {late}; exit" TERM; "$0" fork & wait', server)
    assert late.read_bytes() == b"a sample"
    assert {"server", "other"} <= {path.name.partition(".")[0] for path in late.parent.iterdir()}
    assert set(late.parent.iterdir()) == set(sample.find(late.parent))


def test_a_child_that_ends_while_it_is_looked_at(cli, tools, server, tmp_path, monkeypatch):
    """It has no sample; the others have."""
    status, ended = os.stat, []

    def stat(path, *args, **options):
        found = status(path, *args, **options)
        if (number := re.fullmatch(r"/proc/(\d+)/exe", str(path))) and not ended \
                and os.readlink(path) == os.path.realpath(tmp_path / "sleep"):
            ended.append(int(number[1]))
            os.kill(ended[0], 9)
            while os.path.exists(f"/proc/{ended[0]}"):  # until the shell has waited for it
                time.sleep(0.01)
        return found

    compile_to(tmp_path / "sleep", LLVM / "clang", "sleep.c",
               sources={"sleep.c": "#include <unistd.h>\nint main(void) { pause(); }"})
    monkeypatch.setattr(os, "stat", stat)
    cli("record", "--sample", "--until-output", "ready", "-o", tmp_path / "samples", "--", "sh",
        "-c", '"$0" & until [ /proc/$!/exe -ef "$0" ]; do :; done; "$1" wait & wait',
        tmp_path / "sleep", server)
    monkeypatch.undo()
    assert ended
    found = {sample.read(path).main.name for path in sample.find(tmp_path / "samples")}
    assert "server" in found and "sleep" not in found


@contextmanager
def full_disk():
    """What we write to files fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_when_it_is_ready(cli, tools, server, tmp_path, monkeypatch):
    """The command is ended as usual, nothing is left of it, and no part of the samples."""
    before, looked = resource.getrlimit(resource.RLIMIT_FSIZE), []
    look = live_pages.sample

    def sample_then_full(*args):
        looked.append(look(*args))
        if len(looked) == 2:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
        return looked[-1]

    monkeypatch.setattr(live_pages, "sample", sample_then_full)
    (tmp_path / "samples").mkdir()
    try:
        result = cli("record", "--sample", "--until-output", "ready", "-o", tmp_path / "samples",
                     "--", "sh", "-c", 'trap "echo ended > $1; exit" TERM; "$0" fork & wait',
                     server, tmp_path / "ended", code=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(looked) == 2 and "File too large" in result.err
    wait_until_none("exe", os.fspath(server))
    assert (tmp_path / "ended").read_text() == "ended\n"
    assert list((tmp_path / "samples").iterdir()) == []


def test_a_full_disk_while_pages_are_put_in_order(made, server, tmp_path, monkeypatch):
    """The samples are as they were; with room they are in order, and as private."""
    taken = made("one", server, [1, 2, 3])
    whole = taken.read_bytes()
    turned = SimpleNamespace(of=lambda old: PageSample(
        "", old.modules, [TouchedPages(old.touched[0].pages[::-1], True, True)], 4096, 7, 1, False,
        ""))
    monkeypatch.setattr(page_order, "read", lambda *_: turned)
    there = sorted(tmp_path.iterdir())
    with full_disk(), pytest.raises(OSError, match="File too large"):
        sampled._put_in_order([taken], tmp_path / "faults.data")
    assert taken.read_bytes() == whole and sorted(tmp_path.iterdir()) == there
    sampled._put_in_order([taken], tmp_path / "faults.data")
    assert sample.read(taken).touched[0].pages.tolist() == [3, 2, 1]
    assert taken.stat().st_mode & 0o777 == 0o600 and sorted(tmp_path.iterdir()) == there


def test_a_new_sample_is_whole_or_not_there(tmp_path):
    """One that has the name already stays."""
    path = tmp_path / ("one" + sample.SUFFIX)
    with full_disk(), pytest.raises(OSError, match="File too large"):
        sampled._write_new(path, b"content")
    assert list(tmp_path.iterdir()) == []
    sampled._write_new(path, b"first")
    sampled._write_new(path, b"second")
    assert path.read_bytes() == b"first"
    assert sorted(each.read_bytes() for each in sample.find(tmp_path)) == [b"first", b"second"]
    assert {each.stat().st_mode & 0o777 for each in tmp_path.iterdir()} == {0o600}
