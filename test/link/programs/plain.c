// C with constants, jump tables and calls between the front and what is behind it.
#include <stdio.h>

__attribute__((noinline)) int cold_step(int x);

__attribute__((noinline)) int hot_2_switch(int x) {
  switch (x) {
  case 0: return 11;
  case 1: return cold_step(7);
  case 2: return 5;
  case 3: return cold_step(x);
  case 4: return 77;
  case 5: return -3;
  case 6: return cold_step(1);
  default: return 0;
  }
}

static const int cold_table[] = {3, 1, 4, 1, 5, 9, 2, 6};

__attribute__((noinline)) int cold_step(int x) {
  return x > 6 ? hot_2_switch(x - 7) : cold_table[x & 7];
}

__attribute__((noinline)) double hot_1_scale(double x) { return x * 1.25 + 0.375; }

int counter = 42;
int zeroes[100];

int main(void) {
  int sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += hot_2_switch(i);
  zeroes[50] = sum;
  printf("%d %.3f %d %d\n", sum, hot_1_scale(2.0), ++counter, zeroes[50] + zeroes[99]);
  return 0;
}
