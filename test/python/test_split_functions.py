"""Programs split by their basic blocks do what they did, and tools read them."""

import os
import random
import re

import pytest
from abilities import needs
from frontload.profile import resolver
from places import ALL
from split_program import SOURCE, functions

pytestmark = pytest.mark.usefixtures("tools")
# The parts that no start runs call each other: main.cold, outer.cold, inner.
UNWOUND = r"""
#include <execinfo.h>
#include <cstdio>
#define N __attribute__((noinline))
volatile int sink;
N int inner() {
  void *at[8];
  for (int n = backtrace(at, 8), i = 0; i < n; ++i) printf("%lx\n", (unsigned long)at[i]);
  return sink;
}
N int outer(int argc) {
  if (__builtin_expect(argc > 1, 0)) {
    sink = 3;
    int found = inner();  // called by outer
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


def split_at(parts: dict[str, list[int]]) -> dict[str, str]:
    """The file that has clang split functions into these blocks, and the rest."""
    lines = ["v1", *(line for name, blocks in parts.items()
                     for line in (f"f {name}", " ".join(map(str, ["c", *blocks]))))]
    return {"app.blocks": "\n".join(lines) + "\n"}


SPLIT = "-fbasic-block-sections=list=app.blocks"
SANITIZED = [pytest.param(f"-fsanitize={kind}", marks=needs("sanitizers"))
             for kind in ("address", "undefined")]


@pytest.mark.parametrize("flag", [*["-fPIE"] * (8 if ALL else 2), *SANITIZED])
def test_any_clusters_leave_the_program_as_it_is(build_app, startup_of, run, request, flag):
    """Half of the blocks, in any order, with a front of the functions and their tables."""
    plain = build_app("plain", flag)
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
    split = build_app("split", flag, SPLIT, front=startup,
                      sources={"main.cpp": SOURCE, **split_at(parts)})
    assert {"_Z5tablei.cold", "_Z7numbersi.resume.cold"} <= set(functions(split))
    for arguments in ([], ["more"]):
        assert run(split, *arguments).stdout == run(plain, *arguments).stdout


@pytest.fixture
def unwound(build_app, startup_of):
    """The program of which only the first block of each function is in the front."""
    flags = ["-g", "-no-pie", "-fno-omit-frame-pointer"]
    sources = {"main.cpp": UNWOUND}
    plain = build_app("plain", *flags, sources=sources)
    names = ["main", "_Z5outeri", "_Z5innerv"]
    startup = startup_of(plain, lambda blocks: blocks[:1], *map(str.encode, names))
    return build_app("split", *flags, SPLIT, front=startup,
                     sources={**sources, **split_at({name: [0] for name in names})})


@needs("program:gdb", "ptrace")
def test_gdb_unwinds_from_parts(unwound, run):
    """Its frames have the functions' names, and the lines of the calls."""
    output = run("gdb", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex",
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
