/* flags: -O2 -flto. Functions that the linker's compiler has kept. */
volatile int value;

__attribute__((noinline, noclone, noipa)) static void second(void) { value = 2; }

__attribute__((noinline, noclone, noipa)) void first(void) {
  value = 1;
  second();
}

int main(void) {
  first();
  return 0;
}
