/* flags: -O2 -flto. Functions that the linker's compiler has kept.

   exit 0
   process: main first second */
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
