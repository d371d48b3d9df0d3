"""A program to split by its basic blocks, and what the tests of split programs have in common."""

import os
from collections import Counter

import pytest
from compiled import compile_to
from frontload.elf import constants
from frontload.elf import file as elf
from frontload.profile import format as profile
from frontload.profile import resolver
from frontload.profile.block_counts import BlockCounts, Blocks, Shape
from frontload.profile.startup_profile import Name, from_run

# What a split can break: exceptions and their cleanup across parts, tables of jumps, computed goto,
# coroutines.
SOURCE = r"""
extern "C" int printf(const char *, ...);
#include <coroutine>
#include <stdexcept>
#include <string>
#define N __attribute__((noinline))
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
struct Numbers {
  struct promise_type {
    int value = 0;
    Numbers get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int x) { value = x; return {}; }
    void return_void() {}
    void unhandled_exception() { value = -5; }
  };
  std::coroutine_handle<promise_type> handle;
};
N Numbers numbers(int x) {
  int cleaned = 0;
  for (int n = 0; n < x; ++n) co_yield n & 2 ? table(n) : thrower(n + 1, &cleaned) + cleaned;
}
N int resumed(int x) {
  auto made = numbers(x).handle;
  int sum = 0;
  while (made.resume(), !made.done()) sum = sum * 3 + made.promise().value;
  sum += made.promise().value;
  made.destroy();
  return sum;
}
int main(int argc, char **argv) {
  int often = argc > 1 ? 64 : 3;
  const unsigned char code[] = {1, 2, 3, 9, 1, 2, 0};
  for (int x = 0; x < often; ++x)
    printf("%d %d %d %d\n", catcher(x), table(x), threaded(code), resumed(x % 9));
  return 0;
}
"""
MAPPED = ("-std=c++20", "-O2", "-ffunction-sections", "-fbasic-block-address-map")


@pytest.fixture
def build_app(llvm, build, tmp_path):
    """build_app(name, *flags, front=None, sources): a program with a map of its blocks."""
    def build_app(name, *flags, front=None, sources=None):
        sources = sources or {"main.cpp": SOURCE}
        linker = [f"--ld-path={llvm / 'ld.lld'}"]
        if front:
            sources = {**sources, "front.startup": front}
            linker = [f"--ld-path={build / 'bin/ld.frontload'}",
                      "-Wl,--startup-profile=front.startup,--front-always"]
        return compile_to(tmp_path / name, llvm / "clang++", *MAPPED, *flags, *linker,
                          "-Wl,--build-id", *(each for each in sources if each.endswith(".cpp")),
                          sources=sources)

    return build_app


@pytest.fixture
def startup_of(tmp_path):
    """startup_of(program, choose, *names): the profile of a run that touched, of these functions,
    the blocks that `choose` takes."""
    def startup_of(program, choose, *names):
        made = from_run(b"app", [Name("function", "text", name) for name in names], data=True)
        path = tmp_path / "app.startup"
        path.write_bytes(profile.to_bytes(made))
        made.blocks = Blocks({
            Shape(names[each.entry], b"", each.hash): BlockCounts(
                1, Counter(block.id for block in choose(each.blocks)))
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
