/* Functions that are entered in a known order: before main, in main, after main. */
#include <stdio.h>
#include <stdlib.h>

#define STEP __attribute__((noinline)) void
#define WORK __asm__ volatile("")

static STEP chosen(void) { WORK; }
__attribute__((used)) static void *resolver(void) {
  void *choice = (void *)chosen;
  __asm__("" : "+r"(choice)); /* else clang makes the choice itself */
  return choice;
}
void indirect(void) __attribute__((ifunc("resolver")));

STEP before_constructors(void) { WORK; }
__attribute__((section(".preinit_array"), used)) static void (*preinit)(void) = before_constructors;
__attribute__((constructor(101))) STEP first_constructor(void) { WORK; }
__attribute__((constructor(102))) STEP second_constructor(void) { WORK; }
__attribute__((destructor)) STEP destructor(void) { WORK; }
STEP never(void) { WORK; }
STEP at_exit(void) { WORK; }
STEP inner(void) { WORK; }
STEP outer(void) {
  inner();
  WORK;
}
STEP alias_target(void) { WORK; }
void another_name(void) __attribute__((alias("alias_target")));
STEP last(void) { WORK; }

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 99)
    never();
  atexit(at_exit);
  outer();
  for (int i = 0; i < 3; ++i)
    inner();
  another_name();
  alias_target();
  indirect();
  last();
  puts("done");
  return 3;
}
