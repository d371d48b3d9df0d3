"""Random programs to lay out: functions and data of all sizes and sections, ways to link them, and
runs that touch them.

A program is written in assembly, without a libc, so that it is there within milliseconds. Run
number N is what it does when it has N arguments: it calls the functions of that run and reads or
writes its data, in order. What a run touches is known by symbol and offset, so its trace can be
written for each way to link the program, without running it.

A *part* is a function or a datum with an input section of its own, unless a section's name takes in
several. Some data have no symbol that a profile could name, like compilers' tables and what is
embedded by tools: a label stands there for the tests.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

GRANULE = 16
DRIVER_STEP = 25  # bytes of code for each touch of a run, more or less
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Part:
    name: str
    section: str  # its name, flags and type, as the assembler takes them
    size: int
    is_code: bool = False
    is_named: bool = True
    is_zero: bool = False  # not in the file
    is_written: bool = False
    refers_to: tuple[str, ...] = ()


@dataclass(frozen=True)
class Touch:
    """So many bytes of a part, one of each `stride`."""

    part: Part
    offset: int = 0
    size: int = 1
    stride: int = GRANULE

    def count(self) -> int:
        return -(-self.size // self.stride)


@dataclass(frozen=True)
class Program:
    parts: tuple[Part, ...]
    runs: tuple[tuple[Touch, ...], ...]
    kind: str = "pie"
    flags: tuple[str, ...] = ()

    def driver(self, run: int) -> str:
        """The function that does what a run does."""
        return f"run_{run}"

    def describe(self) -> str:
        loaded = sum(part.size for part in self.parts if not part.is_zero)
        return (f"{self.kind} {' '.join(self.flags)}: {len(self.parts)} parts, {loaded} bytes, "
                f"{len(self.runs)} runs")


@dataclass(frozen=True)
class Taste:
    """What kind of programs to make. A share is a probability; sizes are bytes."""

    functions: tuple[int, int] = (3, 120)
    data: tuple[int, int] = (0, 30)
    sections: tuple[str, ...] = ("rodata", "rodata", "relro", "data", "bss")
    large_share: float = 0.1  # of the parts that are of `large` bytes
    large: tuple[int, int] = (20 * KIB, 400 * KIB)
    blobs: tuple[int, int] = (0, 0)  # that no run touches, or hardly
    blob: tuple[int, int] = (300 * KIB, 3 * MIB)
    named_share: float = 0.8
    touched_share: tuple[float, float] = (0.02, 0.7)  # of the parts, by one run
    runs: tuple[int, int] = (1, 2)
    kinds: tuple[str, ...] = ("pie", "pie", "no-pie", "static", "static-pie", "shared")
    flags_share: float = 0.4
    leaves_at_once: bool = False  # the first run does hardly anything, like --version


# What a section of a datum is called; {} is the datum.
_SECTIONS = {
    "rodata": '.rodata.{},"a",@progbits',
    "relro": '.data.rel.ro.{},"aw",@progbits',
    "data": '.data.{},"aw",@progbits',
    "bss": '.bss.{},"aw",@nobits',
    # Whatever tools and people put into sections of their own.
    "fatbin": '.nv_fatbin,"a",@progbits',
    "blob": 'myblob,"a",@progbits',
    "identifier": '__table_of_{},"aw",@progbits',
    "resources": '.qtmimedatabase,"a",@progbits',
    "one rodata": '.rodata,"a",@progbits',
    "one data": '.data,"aw",@progbits',
    "retained": 'kept_{},"aR",@progbits',
    "zeros": 'pool_{},"aw",@nobits',
    "executable": 'patched_{},"ax",@progbits',
    "lrodata": '.lrodata.{},"al",@progbits',
    "ldata": '.ldata.{},"awl",@progbits',
    "lbss": '.lbss.{},"awl",@nobits',
}
_ZERO = {"bss", "zeros", "lbss"}
_WRITTEN = {"data", "bss", "identifier", "one data", "zeros", "ldata", "lbss"}
_BLOBS = ("fatbin", "blob", "resources", "rodata", "data", "relro", "one rodata", "one data",
          "identifier", "lrodata", "ldata")

# All that decides where sections lie; a program draws some.
_FLAGS = (("-z", "separate-code"), ("-z", "separate-loadable-segments"), ("-z", "noseparate-code"),
          ("-z", "norelro"), ("-z", "now"), ("-z", "max-page-size=16384"),
          ("-z", "max-page-size=65536"), ("-z", "keep-text-section-prefix"), ("--no-rosegment",),
          ("-O0",), ("-O2",), ("--gc-sections",), ("--icf=all",), ("-z", "nognustack"),
          ("-z", "pack-relative-relocs"), ("--hash-style=both",),
          ("--emit-relocs",), ("-z", "common-page-size=4096", "-z", "max-page-size=2097152"))

TASTES = {
    "functions": Taste(functions=(3, 400), data=(0, 10)),
    "tables": Taste(functions=(3, 60), data=(3, 40), large_share=0.4, large=(20 * KIB, 1 * MIB)),
    "blobs": Taste(blobs=(1, 3), named_share=0.5),
    "sections": Taste(data=(5, 40), sections=tuple(name for name in _SECTIONS
                                                   if not name.startswith("l")), blobs=(0, 1)),
    "large model": Taste(data=(3, 20), sections=("lrodata", "ldata", "lbss", "rodata", "data"),
                         blobs=(0, 1)),
    "flags": Taste(flags_share=1.0, blobs=(0, 1)),
    "many runs": Taste(functions=(40, 300), data=(5, 40), runs=(3, 6), touched_share=(0.0, 0.9)),
}
# So many names in a tier that groups of them are ordered (lldplugin/profile/tiers.cpp).
LARGE = Taste(functions=(3000, 5000), data=(50, 400), runs=(2, 6), touched_share=(0.2, 0.9),
              large_share=0.02)
LEAVES_AT_ONCE = Taste(functions=(20, 300), data=(0, 30), runs=(1, 4), leaves_at_once=True)


def make(seed: int, taste: Taste) -> Program:
    """The program of this number, always the same."""
    random = Random(seed)
    data = [_datum(random, f"d{i}", random.choice(taste.sections), _size(random, taste), taste)
            for i in range(random.randint(*taste.data))]
    blobs = [_datum(random, f"b{i}", random.choice(_BLOBS), random.randint(*taste.blob), taste)
             for i in range(random.randint(*taste.blobs))]
    names = [part.name for part in data]
    functions = [
        Part(f"f{i}", f'.text.{random.choice(("", "", "", "hot.", "unlikely.", "startup."))}f{i},'
             '"ax",@progbits', max(64, _size(random, taste)), is_code=True,
             refers_to=tuple(random.sample(names, min(len(names), random.choice((0, 0, 1, 2))))))
        for i in range(random.randint(*taste.functions))]
    parts = functions + data + blobs
    random.shuffle(parts)
    runs = tuple(tuple(_run(random, functions, data, blobs, taste))
                 for _ in range(random.randint(*taste.runs)))
    if taste.leaves_at_once:
        touched = random.sample(functions, random.randint(1, 3))
        runs = (tuple(Touch(part) for part in touched), *runs)
    return Program(tuple(parts), runs, random.choice(taste.kinds), tuple(_flags(random, taste)))


def _size(random: Random, taste: Taste) -> int:
    if random.random() < taste.large_share:
        return random.randint(*taste.large)
    return max(1, min(64 * KIB, int(random.lognormvariate(5.5, 1.5))))


def _datum(random: Random, name: str, section: str, size: int, taste: Taste) -> Part:
    pointers = random.choice((1, 8)) if section == "relro" else 0
    refers = tuple(f"target_{i}" for i in range(pointers))
    return Part(name, _SECTIONS[section].format(name), max(size, 8 * len(refers)),
                is_named=random.random() < taste.named_share, is_zero=section in _ZERO,
                is_written=section in _WRITTEN, refers_to=refers)


def _flags(random: Random, taste: Taste) -> Iterator[str]:
    while random.random() < taste.flags_share:
        yield from random.choice(_FLAGS)
        if random.random() < 0.5:
            return


def _run(random: Random, functions, data, blobs, taste: Taste) -> Iterator[Touch]:
    share = random.uniform(*taste.touched_share)
    touched = [part for part in functions + data if random.random() < share]
    touched += [part for part in blobs if random.random() < 0.3]
    random.shuffle(touched)
    for part in touched:
        yield from _touches(random, part)


def _touches(random: Random, part: Part) -> Iterator[Touch]:
    """A part whole, its beginning, or places here and there."""
    if part.is_code:
        yield Touch(part)
    manner = random.choice(("whole", "begin", "places")) if part.size > 4 * GRANULE else "whole"
    if manner == "whole" and part.size <= 256 * KIB:
        yield Touch(part, 0, part.size)
    elif manner == "begin":
        yield Touch(part, 0, random.randint(1, min(part.size, 4 * KIB)))
    else:
        for _ in range(random.randint(1, 4)):
            yield Touch(part, random.randrange(part.size))


def next_build(program: Program, seed: int) -> Program:
    """The program some months later: some parts have another name, some another size, and some are
    new. What its runs do is what they did, as far as it is there."""
    random = Random(seed)
    share = random.random()
    later: dict[Part, Part] = {}
    for part in program.parts:
        changed = part
        if random.random() < share:
            changed = _renamed(part)
        if random.random() < 0.2:
            changed = replace(changed, size=part.size * random.randint(1, 3) + GRANULE)
        later[part] = changed
    renamed = {old.name: new.name for old, new in later.items()}
    later = {old: replace(new, refers_to=tuple(renamed.get(n, n) for n in new.refers_to))
             for old, new in later.items()}
    parts = list(later.values())
    for i in range(random.randint(0, len(parts) // 4)):
        parts.append(Part(f"n{i}", f'.text.n{i},"ax",@progbits', random.randint(64, 4096),
                          is_code=True))
    runs = tuple(tuple(replace(touch, part=later[touch.part]) for touch in run)
                 for run in program.runs)
    return replace(program, parts=tuple(parts), runs=runs)


def _renamed(part: Part) -> Part:
    """By its symbol, and by its section where that is called like it."""
    section, rest = part.section.split(",", 1)
    return replace(part, name=f"{part.name}_2",
                   section=f"{re.sub(f'{part.name}$', f'{part.name}_2', section)},{rest}")


@dataclass
class _Text:
    lines: list[str] = field(default_factory=list)

    def add(self, *lines: str) -> None:
        self.lines += lines


def assembly(program: Program) -> str:
    """The program's source."""
    text = _Text()
    for part in program.parts:
        _add_part(text, part)
    text.add('.section .text._start,"ax",@progbits', ".globl _start", ".type _start,@function",
             "_start:", "mov (%rsp), %rbx", "dec %rbx")
    for run in range(len(program.runs)):
        text.add(f"cmp ${run}, %rbx", "jne 1f", f"call run_{run}", "1:")
    text.add("xor %edi, %edi", "mov $231, %eax", "syscall", ".size _start, .-_start")
    for number, run in enumerate(program.runs):
        _add_driver(text, program.driver(number), run)
    # What relocated pointers point at.
    for i in range(8):
        text.add(f'.section .rodata.target_{i},"a",@progbits', f".globl target_{i}",
                 f".hidden target_{i}", f".type target_{i},@object", f"target_{i}: .quad {i}",
                 f".size target_{i}, 8")
    text.add('.section .note.GNU-stack,"",@progbits')
    return "\n".join(text.lines) + "\n"


def _add_part(text: _Text, part: Part) -> None:
    text.add(f".section {part.section}", ".p2align 4", f".globl {part.name}",
             f".hidden {part.name}")
    if part.is_named:
        kind = "@function" if part.is_code else "@object"
        text.add(f".type {part.name},{kind}", f".size {part.name}, {part.size}")
    text.add(f"{part.name}:")
    if part.is_code:
        text.add("jmp 1f", *(f"lea {name}(%rip), %rax" for name in part.refers_to), "1: ret")
        text.add(f".org {part.name} + {part.size}, 0x90")
    elif part.is_zero:
        text.add(f".skip {part.size}")
    else:
        text.add(*(f".quad {name}" for name in part.refers_to))
        # Something that no two parts have alike, or ICF and merging would make one of them.
        fill = 1 + int.from_bytes(part.name.encode(), "little") % 250
        text.add(f".skip {part.size - 8 * len(part.refers_to)}, {fill}")


def _add_driver(text: _Text, name: str, run: tuple[Touch, ...]) -> None:
    text.add(f'.section .text.{name},"ax",@progbits', f".globl {name}",
             f".type {name},@function", f"{name}:")
    for touch in run:
        part = touch.part
        if part.is_code and touch.offset == 0:
            text.add(f"call {part.name}")
        use = "orb $0, (%rsi)" if part.is_written else "movb (%rsi), %al"
        text.add(f"lea {part.name}+{touch.offset}(%rip), %rsi", f"mov ${touch.count()}, %ecx",
                 f"2: {use}", f"add ${touch.stride}, %rsi", "dec %ecx", "jne 2b")
    text.add("ret", f".size {name}, .-{name}")
