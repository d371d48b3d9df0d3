// Calls back, and throws types that the program has, too.
#include <cstdio>
#include <exception>

struct Base : std::exception {
  explicit Base(int n) : number(n) {}
  int number;
};
struct Derived : Base {
  using Base::Base;
  const char *what() const noexcept override { return "derived"; }
};
struct Bystander {
  ~Bystander() { std::printf("~library "); }
};

extern "C" __attribute__((noinline)) int step(int (*callback)(int, void *), int x, void *data) {
  Bystander bystander;
  return callback(x, data) + 1;
}
extern "C" int call_back(int (*callback)(int, void *), int x, void *data) {
  return step(callback, x, data) + 1;
}
__attribute__((noinline)) static void thrower(int x) {
  if (x > 3)
    throw Base(x);
  if (x > 1)
    throw Derived(x);
}
int in_library(int x) {
  thrower(x);
  return x;
}
