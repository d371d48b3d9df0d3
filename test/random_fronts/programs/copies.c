// Data of a library that a program without PIC has copies of, and functions whose address is taken
// on both sides.
#include <stdio.h>

extern int counter, table[8];
extern const int limits[3]; // copied into read-only memory
extern const char *const words[2];
extern char **environ;
int library_function(int x);
int library_adds(int n);
int (*library_address(void))(int);
const char *library_word(void);
static int (*const stored)(int) = library_function;

__attribute__((noinline)) int sum(void) {
  int total = counter;
  for (int i = 0; i < 8; ++i)
    total += table[i];
  return total + limits[2];
}

int main(void) {
  printf("%d ", sum());
  table[3] = 50;
  counter += 7;
  printf("%d %d\n", library_adds(3), sum());
  printf("%d%d %d %d\n", stored == library_address(), library_function == stored, stored(4),
         library_address()(5));
  printf("%s %d %d\n", words[1], words[1] == library_word(), environ != 0);
  return fputs("done\n", stdout) < 0;
}
