"""frontload order --linker clang: clang splits functions by the file, and programs stay what they
were, whatever the clusters are."""

import os
import random
import shutil

import pytest
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile import format as profile
from frontload.profile import resolver
from frontload.profile.block_counts import BlockCounts, Blocks, Shape
from frontload.profile.startup_profile import Name, from_run

pytestmark = pytest.mark.usefixtures("tools")
# What a split can break: exceptions and their cleanup across parts, tables of jumps, computed goto,
# assembly, setjmp, loops, recursion, variables that are made once, threads' own variables.
SOURCE = r"""
extern "C" int printf(const char *, ...);
#include <csetjmp>
#include <stdexcept>
#include <string>
#define N __attribute__((noinline))
static thread_local int depth;
struct Counter { int *at; ~Counter() { ++*at; } };
N int thrower(int x, int *cleaned) {
  Counter counter{cleaned};
  if (x % 5 == 0) throw std::runtime_error("five");
  if (x % 7 == 0) throw x;
  return x * 3;
}
N int catcher(int x) {
  int cleaned = 0, result = 0;
  try { result = thrower(x, &cleaned); }
  catch (const std::exception &e) { result = 100 + int(std::string(e.what()).size()); }
  catch (int y) { result = 200 + y; }
  return result * 10 + cleaned;
}
N int table(int x) {
  switch (x & 15) {
  case 0: return catcher(x); case 1: return 7; case 2: return x ^ 9; case 3: return x << 2;
  case 4: return x * x; case 5: return 11 - x; case 6: return catcher(x + 1); case 7: return x / 3;
  case 9: return 5; case 10: return x | 64; case 11: return ~x; case 13: return x % 6;
  default: return -1;
  }
}
N int threaded(const unsigned char *code) {
  static const void *const labels[] = {&&stop, &&add, &&twice, &&skip};
  int value = 1;
  goto *labels[*code++];
add: value += 3; goto *labels[*code++];
twice: value *= 2; goto *labels[*code++];
skip: ++code; goto *labels[*code++];
stop: return value;
}
static jmp_buf back;
N void jumper(int x) { if (x > 3) longjmp(back, x); }
N int jumped(int x) {
  volatile int seen = x;
  int came = setjmp(back);
  if (came) return came * 1000 + seen;
  jumper(x);
  return seen;
}
N int assembly(int x) {
  int result = x;
  if (x & 1) asm volatile("addl $5, %0" : "+r"(result) : : "cc");
  else asm goto("testl %0, %0\n\tjz %l[zero]" : : "r"(x) : "cc" : zero);
  return result;
zero: return 77;
}
N int once(int x) { static int made = table(x + 40); return made + x; }
N int recursive(int x) {
  ++depth;
  return x <= 0 ? depth : recursive(x - 1) + (x & 1 ? table(x) : 0);
}
int main(int argc, char **argv) {
  int often = argc > 1 ? 64 : 3;
  const unsigned char code[] = {1, 2, 3, 9, 1, 2, 0};
  for (int x = 0; x < often; ++x)
    printf("%d %d %d %d %d %d %d\n", catcher(x), table(x), threaded(code), jumped(x % 9),
           assembly(x), once(x), recursive(x % 5));
  return 0;
}
"""
MAPPED = ("-O2", "-ffunction-sections", "-fbasic-block-address-map")


@pytest.fixture
def build_app(run, llvm, build, tmp_path):
    """build_app(name, *flags, front=None, sources): a program with a map of its blocks."""
    def build_app(name, *flags, front=None, sources=None):
        for file, text in (sources or {"main.cpp": SOURCE}).items():
            (tmp_path / file).write_text(text)
        linker = [f"--ld-path={llvm / 'ld.lld'}"]
        if front:
            linker = [f"--ld-path={build / 'bin/ld.frontload'}",
                      f"-Wl,--startup-profile={front},--front-always"]
        run(llvm / "clang++", *MAPPED, *flags, *linker, "-Wl,--build-id",
            *(sources or {"main.cpp": SOURCE}), "-o", name, cwd=tmp_path)
        return tmp_path / name

    return build_app


@pytest.fixture
def startup_of(tmp_path):
    """startup_of(program, choose, *names): the profile of a run that touched, of these functions,
    the blocks that `choose` takes."""
    def startup_of(program, choose, *names):
        made = from_run(b"app", [Name("function", "text", name) for name in names],
                                data=True)
        path = tmp_path / "app.startup"
        path.write_bytes(profile.to_bytes(made))
        made.blocks = Blocks({
            Shape(names[each.entry], b"", each.hash): BlockCounts(
                1, [(block.id, 1) for block in choose(each.blocks)])
            for each in resolver.blocks(os.fspath(path), [os.fspath(program)])})
        path.write_bytes(profile.to_bytes(made))
        return path

    return startup_of


def clusters(path) -> dict[str, list[int]]:
    """What the file says of each function."""
    version, *lines = path.read_text().splitlines()
    assert version == "v1"
    return {name.removeprefix("f "): list(map(int, blocks.removeprefix("c ").split()))
            for name, blocks in zip(lines[::2], lines[1::2], strict=True)}


def functions(program) -> dict[str, int]:
    symbols = elf.read(program).symbols
    return {symbols.names[index].decode(): int(symbols.value[index])
            for index, kind in enumerate(symbols.type)
            if kind == constants.STT_FUNC or symbols.names[index].endswith((b".cold", b".eh"))}


def test_only_what_ran_is_in_the_front(build_app, run, frontload, tmp_path, llvm):
    """The whole way: compile with maps, record, order, compile by the order, link with a front."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    plain = build_app("plain")
    frontload("record", "--data", "-o", tmp_path / "traces", "--", plain)
    frontload("profile", tmp_path / "traces", "-o", tmp_path / "app.startup")
    frontload("order", tmp_path / "app.startup", "--linker", "clang", "--binary", plain,
              "-o", tmp_path / "app.blocks")
    ordered = clusters(tmp_path / "app.blocks")
    assert "_Z5tablei" in ordered
    assert all(blocks[0] == 0 for blocks in ordered.values())
    front = build_app("front", f"-fbasic-block-sections=list={tmp_path / 'app.blocks'}",
                      front=tmp_path / "app.startup")
    at = functions(front)
    sections = elf.read(front)
    (text,) = [row for row, name in zip(sections.sections, sections.section_names, strict=True)
               if name == b".text.front"]
    begin, end = int(text["addr"]), int(text["addr"]) + int(text["size"])
    assert begin <= at["_Z5tablei"] < end and not begin <= at["_Z5tablei.cold"] < end
    # Landing pads, of which some ran, are with the rest of what ran.
    assert not any(name.endswith(".eh") for name in at)
    for arguments in ([], ["more"]):
        assert run(front, *arguments).stdout == run(plain, *arguments).stdout
    # Recorded again, the split program has the same blocks in the same shapes.
    frontload("record", "--data", "-o", tmp_path / "again", "--", front)
    frontload("profile", tmp_path / "again", "-o", tmp_path / "again.startup")
    once, again = (profile.read(tmp_path / f"{name}.startup").blocks for name in ("app", "again"))
    assert set(once) == set(again)
    for shape in once:
        assert set(again[shape].blocks) <= set(once[shape].blocks)


def test_breakpoints_see_the_same_blocks(build_app, frontload, tmp_path):
    """As valgrind, but for what it cannot tell: a block that begins where another was first."""
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not installed")
    app = build_app("app")
    found = {}
    for way in ("--data", "--blocks"):
        frontload("record", way, "-o", tmp_path / way, "--", app, "more")
        frontload("profile", tmp_path / way, "-o", tmp_path / f"{way}.startup")
        found[way] = {shape: set(counts.blocks) for shape, counts in
                      profile.read(tmp_path / f"{way}.startup").blocks.items()}
    assert found["--blocks"].keys() == found["--data"].keys() and len(found["--blocks"]) > 8
    for shape, blocks in found["--blocks"].items():
        assert 0 in blocks and blocks <= found["--data"][shape]
    certain, perhaps = (sum(map(len, found[way].values())) for way in ("--blocks", "--data"))
    assert certain >= 0.85 * perhaps


@pytest.mark.parametrize("seed", range(8))
def test_any_clusters_leave_the_program_as_it_is(build_app, startup_of, run, tmp_path, seed):
    """Half of the blocks, in any order, with a front of the functions and their tables."""
    plain = build_app("plain")
    chance = random.Random(seed)
    names = [name.encode() for name, address in functions(plain).items()
             if address and (name == "main" or name.startswith("_Z"))]
    chance.shuffle(names)
    startup = startup_of(plain, lambda blocks: blocks, *names)
    lines = ["v1"]
    for function in resolver.blocks(os.fspath(startup), [os.fspath(plain)]):
        others = [block.id for block in function.blocks if block.id and chance.random() < 0.5]
        chance.shuffle(others)
        lines += [f"f {function.symbol.decode()}", " ".join(map(str, ["c", 0, *others]))]
    (tmp_path / "app.blocks").write_text("\n".join(lines) + "\n")
    split = build_app("split", f"-fbasic-block-sections=list={tmp_path / 'app.blocks'}",
                      front=startup)
    assert "_Z5tablei.cold" in functions(split)
    for arguments in ([], ["more"]):
        assert run(split, *arguments).stdout == run(plain, *arguments).stdout


def test_a_function_that_has_changed_is_left_whole(build_app, startup_of, frontload, tmp_path):
    """Its blocks have other numbers now, which clang would take for what they were."""
    plain = build_app("plain")
    startup = startup_of(plain, lambda blocks: blocks[:2], b"_Z5tablei", b"_Z7catcheri")
    changed = build_app("changed", sources={"main.cpp": SOURCE.replace(
        "case 1: return 7;", "case 1: return catcher(x * 2) + catcher(x * 3);")})
    result = frontload("order", startup, "--linker", "clang", "--binary", changed,
                       "-o", tmp_path / "app.blocks", "--min-match", "0")
    assert set(clusters(tmp_path / "app.blocks")) == {"_Z7catcheri"}
    assert "1 function left whole, whose blocks are not those that were recorded" in result.stderr
    assert "recorded: 1 of 2 functions" in frontload("check", changed, "--profile", startup,
                                                     code=None).stdout
    assert "recorded: 2 of 2 functions" in frontload("check", plain, "--profile", startup,
                                                     code=None).stdout
    # As with other orders, too little of a profile is an error, and nothing is written.
    (tmp_path / "app.blocks").unlink()
    frontload("order", startup, "--linker", "clang", "--binary", changed, "--min-match", "90",
              "-o", tmp_path / "app.blocks", code=1)
    assert not (tmp_path / "app.blocks").exists()


def test_namesakes_are_left_out(build_app, startup_of, frontload, tmp_path):
    """clang would split both by the blocks of one."""
    part = ("extern volatile int sink; static __attribute__((noinline)) void same(int x) "
            "{ if (x > %d) sink = x; } void user%d(int x) { same(x); if (x > 5) sink = 3; }\n")
    program = build_app("two", sources={
        "one.cpp": part % (1, 1), "other.cpp": "volatile int sink;\n" + part % (2, 2),
        "main.cpp": "void user1(int); void user2(int);\n"
                    "int main(int c, char **) { user1(c); user2(c); return c > 9 ? 3 : 0; }\n"})
    startup = startup_of(program, lambda blocks: blocks[:1], b"_ZL4samei", b"main", b"_Z5user1i")
    result = frontload("order", startup, "--linker", "clang", "--binary", program,
                       "-o", tmp_path / "app.blocks", "--min-match", "0")
    assert "1 name left out, which several functions have" in result.stderr
    assert "_ZL4samei" not in clusters(tmp_path / "app.blocks")


def test_what_is_missing_is_said(build_app, startup_of, run, llvm, frontload, tmp_path):
    plain = build_app("plain")
    startup = startup_of(plain, lambda blocks: blocks[:1], b"main")
    without = tmp_path / "without.startup"
    without.write_bytes(b"".join(line for line in startup.read_bytes().splitlines(keepends=True)
                                 if not line.startswith(b"blocks:")))
    assert "has no basic blocks" in frontload("order", without, "--linker", "clang", "--binary",
                                              plain, code=2).stderr
    assert "only what is linked can tell" in frontload("order", startup, "--linker", "clang",
                                                       code=2).stderr
    (tmp_path / "bare.c").write_text("int main(void) { return 0; }\n")
    run(llvm / "clang", f"--ld-path={llvm / 'ld.lld'}", tmp_path / "bare.c", "-o",
        tmp_path / "bare")
    assert "has no map of its basic blocks" in frontload(
        "order", startup, "--linker", "clang", "--binary", tmp_path / "bare", code=2).stderr
