"""The program that the tests of order files link: C++, in several objects, all but START cold."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from compiled import compile_to, compiled
from elftools.elf.elffile import ELFFile
from frontload.profile.startup_profile import Name
from linking import COMPILERS, Image

COMPILED = ("-O1", "-g0", "-ffunction-sections", "-fdata-sections")
# Each function switches over its argument and so has a table, reads a constant that is merged with
# others (a double), and throws what its caller catches. No headers: they take most of the time.
UNIT = """
struct Thrown { const char *what; };
namespace {
__attribute__((noinline)) int helper(int x) { return x * %(number)d + 1; }
__attribute__((noinline)) double scaled(int x) { return x * %(number)d.125; }
struct Counted { Counted() : value(helper(%(number)d)) {} int value; };
}
extern int order_of_construction;
int data_%(name)s = %(number)d;
int zeros_%(name)s[40];
extern const int table_%(name)s[64];
const int table_%(name)s[64] = {%(number)d};
extern int *const pointer_%(name)s;
int *const pointer_%(name)s = &data_%(name)s;
thread_local int local_%(name)s = helper(%(number)d);
Counted constructed_%(name)s;
__attribute__((noinline)) int choose_%(name)s(int x) {
  switch (x) {
  case 0: return helper(7); case 1: return order_of_construction; case 2: return 13;
  case 3: return helper(x) - 4; case 4: return data_%(name)s; case 5: return x * x;
  case 6: return zeros_%(name)s[x]; case 7: return *pointer_%(name)s + 2; default: return -1;
  }
}
__attribute__((noinline)) int %(name)s(int x) {
  if (x > 100)
    throw Thrown{"thrown by %(name)s"};
  return choose_%(name)s(x & 7) + int(scaled(x)) + local_%(name)s + table_%(name)s[x & 3]
         + constructed_%(name)s.value;
}
"""
MAIN = """
extern "C" int printf(const char *, ...);
struct Thrown { const char *what; };
int order_of_construction = 3;
%(declarations)s
static int (*const all[])(int) = {%(functions)s};
extern "C" int work(void) {
  int sum = 0, caught = 0;
  for (int (*function)(int) : all) {
    sum += function(5);
    try {
      function(1000);
    } catch (const Thrown &thrown) {
      printf("%%s\\n", thrown.what);
      ++caught;
    }
  }
  printf("%%d %%d\\n", sum, caught);
  return caught == %(count)d ? 0 : 1;
}
#ifndef LIBRARY
int main() { return work(); }
#endif
"""
UNITS = [f"unit_{letter}" for letter in "abcdefgh"]
# In the order of touching, which is neither that of the objects nor that of the alphabet.
START = ["unit_f", "choose_unit_f", "unit_b", "choose_unit_b", "unit_g", "choose_unit_g"]
START_UNITS = ["unit_f", "unit_b", "unit_g"]


def mangled(name: str) -> str:
    return f"_Z{len(name)}{name}i"


class Linked(Image):
    """A linked file with its path, what is relocated read-only, and all symbols by name."""

    def __init__(self, path: Path):
        super().__init__(path)
        self.path = path
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            self.relro = next((range(s["p_vaddr"], s["p_vaddr"] + s["p_memsz"])
                               for s in elf.iter_segments("PT_GNU_RELRO")), None)
            table = elf.get_section_by_name(".symtab")
            self.all = sorted((s.name, s["st_value"]) for s in table.iter_symbols())

    def address(self, name: str) -> int:
        return self.symbols[name].address

    def in_order(self, names: list[str]) -> list[str]:
        return sorted(names, key=self.address)

    def functions(self) -> list[str]:
        """The mangled names of all units' functions, by address."""
        return self.in_order([mangled(prefix + unit) for unit in UNITS for prefix in
                              ("", "choose_")])


@dataclass
class Built:
    """The objects of the program, from one compiler, and ways to order and link them."""

    objects: list[Path]
    folder: Path
    compiler: Path | str
    flags: tuple[str, ...]
    profile: Callable  # the fixture startup
    cli: Callable
    run: Callable

    def compile(self, name: str, text: str) -> Path:
        return compile_to(self.folder / f"{name}.o", self.compiler, *COMPILED, *self.flags, "-c",
                          f"{name}.cpp", sources={f"{name}.cpp": text})

    def odd_functions(self, names: list[str]) -> Path:
        """An object with functions odd0, odd1 and so on in sections of these names."""
        source = self.folder / "odd.s"
        source.write_text("".join(
            f'.section ".text.{name}","ax",@progbits\n.globl odd{number}\n'
            f'.type odd{number},@function\nodd{number}: ret\n.size odd{number}, 1\n'
            for number, name in enumerate(names)) + '.section .note.GNU-stack,"",@progbits\n')
        self.run(self.compiler, "-c", source, "-o", self.folder / "odd.o")
        return self.folder / "odd.o"

    def order(self, linker: str, startup: Path, *options, code=0, output=None):
        output = output or self.folder / f"{linker}.order"
        return output, self.cli("order", startup, "--linker", linker, "-o", output, *options,
                                       code=code)

    def link(self, linker: str, *arguments, name="app") -> Linked:
        output = self.folder / name
        result = self.run(self.compiler, f"-fuse-ld={linker}", *arguments, "-o", output)
        assert result.stderr == ""
        return Linked(output)


def startup_entries() -> list[Name]:
    """What is touched: functions, and data of each class, of three units."""
    def data(section_class: str, name: str) -> list[Name]:
        return [Name("data", section_class, (name + unit).encode()) for unit in START_UNITS]

    return [*(Name("function", "text", mangled(name).encode()) for name in START),
            *data("rodata", "table_"), *data("relro", "pointer_"), *data("data", "data_"),
            *data("bss", "zeros_")]


@pytest.fixture
def build_program(tmp_path, run, cli, tools, startup):
    """build_program(compiler, *flags): the program's objects, which no test may change."""
    main = MAIN % {"declarations": "\n".join(f"int {unit}(int);" for unit in UNITS),
                   "functions": ", ".join(UNITS), "count": len(UNITS)}
    texts = {"main": main} | {unit: UNIT % {"name": unit, "number": number}
                              for number, unit in enumerate(UNITS, 2)}

    def build_program(compiler="gcc", *flags) -> Built:
        driver = COMPILERS[compiler][1]
        objects = [compiled(driver, *COMPILED, *flags, "-c", f"{name}.cpp", output=f"{name}.o",
                            sources={f"{name}.cpp": text}) for name, text in texts.items()]
        return Built(objects, tmp_path, driver, flags, startup, cli, run)

    return build_program
