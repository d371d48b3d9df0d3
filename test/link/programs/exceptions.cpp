// Throws from code behind the front into the front, from the front to behind it, and through both.
#include <cstdio>
#include <stdexcept>
#include <string>

struct Note {
  explicit Note(int n) : number(n) {}
  ~Note() { std::printf("~%d ", number); }
  int number;
};

__attribute__((noinline)) void cold_throw(int x) {
  Note note(x);
  if (x > 0)
    throw std::runtime_error("cold " + std::to_string(x));
}

__attribute__((noinline)) void hot_2_throw(int x) {
  Note note(x);
  if (x > 0)
    throw x;
}

__attribute__((noinline)) int hot_1_catch(int x) {
  try {
    cold_throw(x);
    return 0;
  } catch (const std::exception &e) {
    std::printf("hot caught %s\n", e.what());
    return 1;
  }
}

__attribute__((noinline)) void cold_middle(int x) {
  Note note(100);
  hot_2_throw(x);
}

__attribute__((noinline)) int hot_3_outer(int x) {
  try {
    cold_middle(x);
  } catch (...) {
    std::printf("outer caught\n");
    return 1;
  }
  return 0;
}

int main() {
  int sum = hot_1_catch(0) + hot_1_catch(1) + hot_3_outer(3);
  std::printf("%d\n", sum);
  return sum == 2 ? 0 : 1;
}
