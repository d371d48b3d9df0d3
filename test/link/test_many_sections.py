"""A link of many sections: lld goes through those of the front alone for the patterns of the front,
which another thread has picked out."""

import json

import pytest
from linking import Entry, bare_front, check_run, compile_text, front, is_linear, link

MANY = 6000
START = """.globl _start
.section .text._start,"ax",@progbits
_start: mov $60, %eax
xor %edi, %edi
syscall
"""
CLASSES = {"text": '"ax",@progbits', "rodata": '"a",@progbits', "data": '"aw",@progbits',
           "bss": '"aw",@nobits'}


def source(number: int) -> str:
    """So many sections, by turns of each class."""
    lines = []
    for i in range(number):
        name, flags = list(CLASSES.items())[i % len(CLASSES)]
        lines += [f".section .{name}.{name}_{i},{flags}", f".globl {name}_{i}",
                  f".type {name}_{i}, @{'function' if name == 'text' else 'object'}",
                  f".size {name}_{i}, 8", f"{name}_{i}:",
                  ".zero 8" if name == "bss" else f".quad {i}"]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("collects", [False, True])
@pytest.mark.parametrize("number", [400, MANY])
def test_the_front_is_the_same(tmp_path, number, collects):
    """All that the profile names is in first-touch order, whatever lld was spared, and what is
    garbage is gone."""
    o, trace = compile_text(tmp_path, "many.s", START + source(number)), tmp_path / "trace"
    named = {name: [f"{name}_{i}" for i in range(number - len(CLASSES) + place, 0, -200)]
             for place, name in enumerate(CLASSES)}
    kept = {symbol for symbols in named.values() for symbol in symbols[::2 if collects else 1]}
    linked = bare_front(
        tmp_path, o, f"--time-trace={trace}", "--time-trace-granularity=0",
        *(["--gc-sections", "--min-match=0", *(f"--undefined={symbol}" for symbol in sorted(kept))]
          if collects else []), entry="_start",
        entries=[Entry("function" if name == "text" else "data", name, symbol)
                 for name, symbols in named.items() for symbol in symbols])
    symbols = linked.image.symbols
    for names in named.values():
        addresses = [symbols[name].address for name in names if name in kept]
        assert addresses == list(range(addresses[0], addresses[0] + 8 * len(addresses), 8))
    everything = {f"{list(CLASSES)[i % len(CLASSES)]}_{i}" for i in range(number)}
    assert everything & symbols.keys() == (kept if collects else everything)
    check_run(linked.path)
    events = {event["name"] for event in json.loads(trace.read_text())["traceEvents"]}
    assert ("Shorten the list of sections" in events) == (number == MANY)


def test_constants_that_the_loader_copies(tmp_path):
    """The one pattern of the script that is lld's to match finds what it finds in a small link.
    They have no contents, and are in the file all the same, as zeros."""
    library = tmp_path / "libconstants.so"
    link(library, "-shared", compile_text(tmp_path, "constants.c",
                                          "const int constants[20000] = {3};\n", "-fPIC"))
    program = compile_text(tmp_path, "main.c", "extern const int constants[20000];\n"
                           "int main(void) { return constants[0] - 3; }\n", "-fno-pie")
    linked = front(tmp_path, "-no-pie", program, compile_text(tmp_path, "many.s", source(MANY)),
                   library, f"-Wl,-rpath,{tmp_path}",
                   entries=("main", "text_0", ("data", "data", "data_2"),
                            ("data", "rodata", "rodata_1")))
    assert linked.image.section_of("constants") == ".data.rel.ro"
    assert is_linear(linked.path)
    check_run(linked.path)
