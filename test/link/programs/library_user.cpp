// Uses library.cpp and throws through it.
#include <cstdio>

extern "C" int hot_1_call(int (*callback)(int), int x);
extern "C" int cold_call(int (*callback)(int), int x);

static int cold_callback(int x) {
  if (x > 2)
    throw x;
  return x;
}

__attribute__((noinline)) int hot_2_try(int x) {
  try {
    return cold_call(cold_callback, x);
  } catch (int i) {
    std::printf("caught %d\n", i);
    return 10 * i;
  }
}

int main() {
  std::printf("%d\n", hot_2_try(1) + hot_2_try(2) + hot_2_try(3));
  return 0;
}
