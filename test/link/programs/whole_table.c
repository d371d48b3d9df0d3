// The C half of whole.cpp: data that points at data and at code, and code of some pages on either side,
// so that the front and what is behind it lie in pages of their own, as in a program of any size.
int counter = 6;
int *const counter_place = &counter;
const char *const words[4] = {"zero", "one", "two", "three"};

__attribute__((noinline)) int hot_1_step(int x) { return x ^ words[x & 3][1]; }
__attribute__((noinline)) int cold_3_step(int x) { return x % 7 + counter; }
int (*const steps[2])(int) = {hot_1_step, cold_3_step};

#define PAGES(name)                                                                                    \
  __asm__(".pushsection .text." name ",\"ax\",@progbits\n.globl " name "\n.type " name ", @function\n" \
          name ": .skip 20000, 0x90\nret\n.size " name ", . - " name "\n.popsection")
PAGES("hot_4_pages");
PAGES("cold_4_pages");
