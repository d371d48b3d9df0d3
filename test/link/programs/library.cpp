// A shared library with a front: it calls back into the program, whose exception passes through it.
#include <cstdio>

struct Guard {
  ~Guard() { std::printf("guard "); }
};

static const char *const cold_words[] = {"zero", "one", "two"};

extern "C" __attribute__((noinline)) const char *cold_word(int i) { return cold_words[i]; }

extern "C" __attribute__((noinline)) int hot_1_call(int (*callback)(int), int x) {
  Guard guard;
  return callback(x);
}

extern "C" __attribute__((noinline)) int cold_call(int (*callback)(int), int x) {
  Guard guard;
  int result = hot_1_call(callback, x);
  std::printf("%s ", cold_word(result));
  return result;
}
