// Exceptions that pass through callbacks: of C's library, of a shared library, of destructors and
// threads; some are thrown again, some caught by type or by base.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

extern "C" int call_back(int (*callback)(int, void *), int x, void *data);
struct Base : std::exception {
  explicit Base(int n) : number(n) {}
  int number;
};
struct Derived : Base {
  using Base::Base;
  const char *what() const noexcept override { return "derived"; }
};
int in_library(int x); // throws what it is given, by its own copy of Derived's type

struct Guard {
  const char *name;
  ~Guard() { std::printf("~%s ", name); }
};

static int compare(const void *a, const void *b) {
  int x = *static_cast<const int *>(a), y = *static_cast<const int *>(b);
  if (x == 7 || y == 7)
    throw std::string("seven");
  return x - y;
}

static int rethrow(int x, void *data) {
  Guard guard{"rethrow"};
  try {
    if (x % 2)
      throw Derived(x);
    return in_library(x);
  } catch (Base &base) {
    ++*static_cast<int *>(data);
    if (base.number > 2)
      throw;
    return base.number;
  }
}

template <class T> static const char *caught_by(void (*thrower)()) {
  try {
    thrower();
  } catch (const T &) {
    return "its type";
  } catch (const std::exception &e) {
    return e.what();
  } catch (...) {
    return "all";
  }
  return "none";
}

static void throw_range() { throw std::out_of_range("range"); }
static void throw_int() { throw 5; }
static void nested() {
  try {
    throw_range();
  } catch (...) {
    std::throw_with_nested(std::runtime_error("outer"));
  }
}

int main() {
  int numbers[] = {3, 7, 1, 9};
  try {
    Guard guard{"qsort"};
    std::qsort(numbers, 4, sizeof *numbers, compare);
  } catch (const std::string &text) {
    std::printf("%s\n", text.c_str());
  }
  int count = 0;
  for (int x = 0; x < 6; ++x)
    try {
      std::printf("%d ", call_back(rethrow, x, &count));
    } catch (const Derived &derived) {
      std::printf("%s %d ", derived.what(), derived.number);
    } catch (const Base &base) {
      std::printf("base %d ", base.number);
    }
  std::printf("%d\n%s %s %s %s\n", count, caught_by<std::out_of_range>(throw_range),
              caught_by<int>(throw_range), caught_by<std::logic_error>(throw_int),
              caught_by<int>(nested));
  std::vector<std::exception_ptr> pointers(3);
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&pointers, i] {
      try {
        std::function<int(int)> f = [](int n) { return n > 1 ? throw Derived(n) : n; };
        std::vector<int> many{i, i, i};
        std::for_each(many.begin(), many.end(), f);
      } catch (...) {
        pointers[i] = std::current_exception();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (std::exception_ptr pointer : pointers)
    try {
      if (pointer)
        std::rethrow_exception(pointer);
      std::printf("none ");
    } catch (Derived &derived) {
      std::printf("thread %d\n", derived.number);
    }
}
