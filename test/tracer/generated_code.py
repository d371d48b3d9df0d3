"""Generates a program of functions that are made of random x86 instructions, with entries in all
places: at an instruction, behind its prefixes, in its constants, and where a jump leads. It calls
all of them, and copies of them, and prints what they return."""

import random

REGISTERS = ["eax", "ecx", "edx"]
PREFIXES = [0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67, 0xf2, 0xf3]
# What takes the next four bytes for a constant or an address.
SWALLOWERS = ["0x3d", "0xa9", "0xb8", "0x2d", "0x81, 0xf1", "0x0f, 0x1f, 0x80",
              "0x0f, 0x1f, 0x84, 0x00"]

DRIVER = r"""
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
extern const char code[], code_end[];
extern char *const entries[], *const entries_end[];
uint64_t enter(const void *entry, void *memory, uint64_t number);
static uint64_t visit(long distance, int step, uint64_t sum) {
  static unsigned char *memory;
  if (!memory)
    memory = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  for (long i = 0, count = entries_end - entries; i < count; i += step) {
    long number = i * 7919 % count;
    for (int byte = 0; byte < 512; ++byte)
      memory[byte] = number * 31 + byte * 7;
    uint64_t result = enter(entries[number] + distance, memory, number);
    for (int byte = 0; byte < 512; ++byte)
      result = result * 31 + memory[byte];
    printf("%ld %lx\n", number, result);
    sum = sum * 31 + result;
  }
  return sum;
}
int main(void) {
  long size = code_end - code;
  char *copy = mmap(0, size, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(copy, code, size);
  uint64_t sum = visit(copy - code, 3, 0);
  sum = visit(0, 1, sum);
  memcpy(copy, code, size / 2);
  printf("%lx\n", visit(copy - code, 1, sum));
  return 3;
}
__asm__(".globl enter\nenter: .cfi_startproc\n"
        "pushq %rbx\n.cfi_adjust_cfa_offset 8\nmovq %rdi, %rax\nmovq %rsi, %rdi\nmovq %rdi, %r11\n"
        "leaq 1024(%rdi), %rsi\nmovl $7, %ecx\n"
        "movq %rdx, %r8\nmovq %rdx, %r9\nmovq %rdx, %r10\nmovl $0x1234567, %ebx\n"
        "movq %rax, %rbx\nmovl %edx, %eax\ntestl %eax, %eax\ncld\n"
        "call *%rbx\npopq %rbx\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n");
"""


class Generator:
    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.entries = 0
        self.labels = 0

    def pick(self, *choices):
        return self.random.choice(choices)

    def registers(self) -> str:
        """Of two bytes, without a prefix."""
        source, target = self.random.choices(REGISTERS, k=2)
        return f"{self.pick('add', 'sub', 'xor', 'and', 'or', 'mov', 'adc')}l %{source}, %{target}"

    def memory(self) -> str:
        """On memory, and possible with `lock`."""
        place = f"{self.random.randrange(400)}(%rdi)"
        return self.pick(f"addl ${self.random.randrange(1 << 31)}, {place}", f"xaddl %ecx, {place}",
                         f"notl {place}", f"xorb %al, {place}", f"incq {place}",
                         f"cmpxchgl %edx, {place}", f"btsl $3, {place}")

    def instruction(self) -> str:
        constant, place = self.random.randrange(1 << 31), f"{self.random.randrange(400)}(%rdi)"
        return self.pick(
            self.registers(), self.memory(), f"lock {self.memory()}", f"movl ${constant}, %eax",
            f"movabsq ${constant << 31}, %r8", "addq %r8, %r9\nxorq %r9, %rax",
            f"addl %ecx, {place}", f"imull ${constant}, %eax, %edx", "leal 7(%rax,%rcx,4), %edx",
            "bswapl %eax", "rorl $5, %edx", "pushq %rax\npopq %r10", "setc %cl",
            f"movups {place}, %xmm1\npaddd %xmm1, %xmm1\nmovups %xmm1, {place}",
            f"movzbl {place}, %ecx", "cmovnel %edx, %eax", ".nops 9", "pause",
            f"movl ${constant % 100}, %ecx\nleaq 1024(%rdi), %rsi\n"
            f"{self.pick('rep', 'rep', '')} {self.pick('movsb', 'stosl')}\nmovq %r11, %rdi")

    def entry(self) -> None:
        """The beginning of a function, in the midst of another one, or with its own unwind
        information."""
        if self.random.random() < 0.3:
            self.lines += [".cfi_endproc", ".cfi_startproc"]
        self.lines += [f".type e{self.entries}, @function", f"e{self.entries}:"]
        self.entries += 1

    def prefixed(self) -> None:
        """Prefixes with an entry behind each of some."""
        body, prefixes = self.registers(), self.random.choices(PREFIXES, k=self.pick(1, 1, 2, 4))
        if self.random.random() < 0.3:
            body, prefixes = self.memory(), [*self.random.choices([0x2e, 0x36, 0x67], k=1), 0xf0]
        elif self.random.random() < 0.3:
            body = self.pick("movsb", "stosb") + "\nmovq %r11, %rdi"
            prefixes = [self.pick(0x66, 0x2e), 0xf3]
            self.lines += ["movl $9, %ecx", "leaq 1024(%rdi), %rsi"]
        elif self.random.random() < 0.4:
            prefixes.append(self.random.randrange(0x40, 0x50))
        for prefix in prefixes:
            self.lines.append(f".byte {prefix:#x}")
            if self.random.random() < 0.5:
                self.entry()
        self.lines.append(body)

    def swallowed(self) -> None:
        """Instructions in the constant of another one, with a jump there or without."""
        if self.random.random() < 0.5:
            self.lines.append(f"{self.pick('jmp', 'jc', 'jnz')} 1f")
        self.lines.append(f".byte {self.random.choice(SWALLOWERS)}")
        if self.random.random() < 0.7:
            self.entry()
        self.lines += ["1:", self.registers()]
        if self.random.random() < 0.3:
            self.entry()
        self.lines.append(self.registers())

    def skipped(self) -> None:
        """Bytes that are no code."""
        junk = ", ".join(f"{self.random.randrange(256):#x}" for _ in range(self.pick(1, 2, 3, 20)))
        self.lines += ["jmp 1f", f".byte {junk}", "1:"]

    def pad(self) -> None:
        """Where others patch code, and where indirect branches land; the middle of endbr64 is a
        no-op."""
        self.lines += self.pick([".nops 5"], ["movl %edi, %edi"], ["endbr64"])
        if self.random.random() < 0.5:
            self.lines.append(".byte 0xf3")
            self.entry()
            self.lines.append(".byte 0x0f, 0x1e, 0xfa")

    def function(self) -> None:
        self.lines += [self.pick(".balign 16", ".balign 16", ".balign 16, 0xcc", "")]
        self.lines.append(".cfi_startproc")
        self.entry()
        for _ in range(self.random.randrange(1, 9)):
            self.pick(lambda: self.lines.append(self.instruction()), self.prefixed, self.swallowed,
                      self.skipped, self.pad, self.entry)()
        self.lines += ["xorq %r10, %rax", self.pick("ret", "ret", "rep ret", "ret $0"),
                       ".cfi_endproc"]

    def source(self, count: int) -> str:
        """An assembler file with `count` functions."""
        for _ in range(count):
            self.function()
        table = [f".quad e{number}" for number in range(self.entries)]
        return "\n".join([".text", ".globl code, code_end, entries, entries_end", "code:",
                          *self.lines, "code_end:", '.section .data.rel.ro, "aw"', "entries:",
                          *table, "entries_end:", '.section .note.GNU-stack, "", @progbits', ""])
