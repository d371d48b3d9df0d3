"""Small programs as text, and where their symbols are."""

# Functions in sections of their own, and a datum of each class.
SOURCE = """
#include <stdio.h>
const char table[64] = "a read-only table"; int counter = 1; int zeros[16];
extern int *const pointer; int *const pointer = &counter;
__attribute__((noinline)) int last(int x) { return x * *pointer; }
#define F(name, next) __attribute__((noinline)) int name(int x) { return next(x + table[x & 7]); }
static __attribute__((noinline)) int helper(int x) { return x + counter + zeros[x & 7]; }
F(f5, helper) F(f4, f5) F(f3, f4) F(f2, f3) F(f1, f2)
int main(int argc, char **argv) { printf("%d\\n", last(f1(argc))); return argc - 1; }
"""

# The same for systems of which there is nothing here but a linker; `start` is its entry.
FREESTANDING = """
int counter = 1; int other = 2; int zeros[16]; const int table[8] = {1, 2, 3};
#define N __attribute__((noinline))
N int f1(int x) { return x + counter; }
N int f2(int x) { return f1(x) + table[x & 7]; }
static N int helper(int x) { return counter += x, x * 3; }
N int f3(int x) { return f2(x) * zeros[x & 7]; }
N int f4(int x) { return helper(x) + f3(x); }
int start(void) { return f4(other); }
"""


def symbol_addresses(run, llvm, path) -> dict[str, int]:
    lines = run(llvm / "llvm-nm", "--defined-only", path).stdout.splitlines()
    return {line.split()[2]: int(line.split()[0], 16) for line in lines}
