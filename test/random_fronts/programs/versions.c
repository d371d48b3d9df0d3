// Uses a library whose symbols have versions, one of them two.
#include <stdio.h>

int answer(void);
int old_answer(void);
int shared_state(int n);
__asm__(".symver old_answer, answer@FIRST");

int callback(int n) { return n + 1000; } // which the library finds in the program
__attribute__((weak)) int overridden(int n) { return n + 5; }

int main(void) {
  printf("%d %d %d %d\n", answer(), old_answer(), shared_state(3), shared_state(4));
  return 0;
}
