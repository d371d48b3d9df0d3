"""Programs split by their basic blocks do what they did, and tools read them."""

import os
import random
import re

import pytest
from frontload.profile import resolver
from needed import need
from split_program import clusters_file, functions

pytestmark = pytest.mark.usefixtures("tools")
# The parts that no start runs call each other: main.cold, outer.cold, inner.
UNWOUND = r"""
#include <execinfo.h>
#include <cstdio>
#define N __attribute__((noinline))
volatile int sink;
N int inner(int often) {
  void *at[8];
  for (int n = backtrace(at, 8), i = 0; i < n; ++i) printf("%lx\n", (unsigned long)at[i]);
  for (volatile int i = 0; i < often; ++i) ;
  return sink;
}
N int outer(int argc) {
  if (__builtin_expect(argc > 1, 0)) {
    sink = 3;
    int found = inner(argc > 2 ? 200000000 : 0);  // called by outer
    sink = 4;
    return found + sink;
  }
  return 0;
}
int main(int argc, char **) {
  if (__builtin_expect(argc > 1, 0)) {
    sink = 1;
    int found = outer(argc);  // called by main
    sink = 2;
    return found + sink != 9;
  }
  return 0;
}
"""


@pytest.mark.parametrize("sanitizers", [
    *[[]] * 8, *[["-fsanitize=address"]] * 2, *[["-fsanitize=undefined"]] * 2])
def test_any_clusters_leave_the_program_as_it_is(build_app, startup_of, run, tmp_path, request,
                                                 sanitizers):
    """Half of the blocks, in any order, with a front of the functions and their tables."""
    plain = build_app("plain", *sanitizers)
    chance = random.Random(request.node.name)
    names = [name.encode() for name, address in functions(plain).items()
             if address and (name == "main" or name.startswith("_Z"))]
    chance.shuffle(names)
    startup = startup_of(plain, lambda blocks: blocks, *names)
    parts = {}
    for function in resolver.blocks(os.fspath(startup), [os.fspath(plain)]):
        others = [block.id for block in function.blocks if block.id and chance.random() < 0.5]
        chance.shuffle(others)
        parts[function.symbol.decode()] = [0, *others]
    assert "_Z7numbersi.resume" in parts  # a coroutine
    split = build_app("split", clusters_file(tmp_path, parts), *sanitizers, front=startup)
    assert {"_Z5tablei.cold", "_Z7numbersi.resume.cold"} <= set(functions(split))
    for arguments in ([], ["more"]):
        assert run(split, *arguments).stdout == run(plain, *arguments).stdout


@pytest.fixture
def unwound(build_app, startup_of, tmp_path):
    """The program of which only the first block of each function is in the front."""
    flags = ["-g", "-no-pie", "-fno-omit-frame-pointer"]
    sources = {"main.cpp": UNWOUND}
    plain = build_app("plain", *flags, sources=sources)
    names = ["main", "_Z5outeri", "_Z5inneri"]
    startup = startup_of(plain, lambda blocks: blocks[:1], *map(str.encode, names))
    split = build_app("split", *flags, clusters_file(tmp_path, {name: [0] for name in names}),
                      front=startup, sources=sources)
    return split


def test_gdb_unwinds_from_parts(unwound, run):
    """Its frames have the functions' names, and the lines of the calls."""
    output = run(need("gdb"), "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex",
                 "break inner", "-ex", "run", "-ex", "bt", "--args", unwound, "1").stdout
    lines = {name: number for number, line in enumerate(UNWOUND.splitlines(), 1)
             for name in re.findall(r"// called by (\w+)", line)}
    frames = re.findall(r"^#[12] .* in (\w+).* \(.*\) at (?:\S*/)?main\.cpp:(\d+)$", output, re.M)
    assert frames == [("outer", str(lines["outer"])), ("main", str(lines["main"]))], output


def test_backtrace_unwinds_from_parts(unwound, run):
    """The return addresses are those of the parts that did not run at startup."""
    starts = sorted((address, name) for name, address in functions(unwound).items() if address)
    frames = [max(pair for pair in starts if pair[0] <= int(line, 16))[1]
              for line in run(unwound, "1").stdout.split()]
    assert frames[1:3] == ["_Z5outeri.cold", "main.cold"]


def test_perf_unwinds_from_parts(unwound, run, tmp_path):
    """perf calls a frame by its symbol or by its debug info: `main.cold` or `main`."""
    perf, data = need("perf"), tmp_path / "perf.data"
    record = run(perf, "record", "-q", "-e", "cpu-clock", "-c", "10000000", "--call-graph=dwarf",
                 "-o", data, unwound, "1", "2", code=None)
    if record.returncode:
        pytest.skip(f"perf records no samples here: {record.stderr.splitlines()[-1]}")
    script = run(perf, "script", "-i", data, "-F", "ip,sym", cwd=tmp_path).stdout
    stacks = [re.findall(r"^\s*[0-9a-f]+ (\S+)", stack, re.M) for stack in script.split("\n\n")]
    names = [[re.sub(r"^_Z5|i?\.cold$|i$", "", frame) for frame in stack] for stack in stacks]
    of_inner = [stack[:3] for stack in names if stack and stack[0] == "inner"]
    assert of_inner and all(stack == ["inner", "outer", "main"] for stack in of_inner), script
