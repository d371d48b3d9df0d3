// Large data, which the medium and large code models put into sections of their own, and all that is
// small: commons, weak symbols, aliases, literals of all sizes, jumps.
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

static const char large_constant[100000] = "large constant";
static int large_data[30000] = {[29999] = 5};
static char large_zeros[200000];
int common_one, common_two[10];
__attribute__((weak)) int weak_value = 3;
extern int absent __attribute__((weak));
int original(int x) { return x + weak_value; }
int alias(int x) __attribute__((alias("original")));
static jmp_buf place;

__attribute__((noinline)) static double literals(int x) {
  return x * 3.25 + x / 7.5f + (double)((__int128)x << 70 >> 69);
}
__attribute__((noinline)) static void jump(int x) {
  if (x)
    longjmp(place, x);
}
__attribute__((noinline)) static int computed(int x) {
  static const void *const labels[] = {&&zero, &&one, &&two};
  goto *labels[x];
zero:
  return 10;
one:
  return 21;
two:
  return 32;
}

int main(void) {
  large_zeros[199999] = (char)strlen(large_constant);
  common_two[9] = ++common_one;
  printf("%d %d %d %d %d\n", large_data[29999], large_zeros[199999], common_two[9], alias(4),
         &absent != 0);
  int caught = setjmp(place);
  if (caught < 3)
    jump(caught + 1);
  const wchar_t *volatile wide = L"wide";
  printf("%d %.3f %d %d\n", caught, literals(5), computed(0) + computed(1) + computed(2),
         (int)wcslen(wide));
  return 0;
}
