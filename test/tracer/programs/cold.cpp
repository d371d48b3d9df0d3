// Functions that gcc -O2 splits in a hot and a cold part. The argument picks what happens.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

__attribute__((cold)) NOINLINE int rare(int x) {
  std::printf("rare %d\n", x);
  return x;
}

// Two cold blocks lie in one part: the second is entered in the middle of it.
NOINLINE int two_ways(int x) {
  if (__builtin_expect(x == 1, 0))
    return rare(10) * 3 + x;
  if (__builtin_expect(x == 2, 0))
    return rare(20) * 5 - x;
  return x * x;
}

NOINLINE int thrower(int x) {
  if (x == 2)
    throw std::runtime_error("two");
  return x;
}

// The landing pads are in the cold part; the unwinder enters them.
NOINLINE int catcher(int x) {
  try {
    return thrower(x);
  } catch (const std::logic_error &) {
    return rare(40);
  } catch (const std::runtime_error &error) {
    std::puts(error.what());
    return rare(50);
  }
}

int main(int, char **argv) {
  int x = std::atoi(argv[1]);
  int sum = two_ways(x) + two_ways(x) + catcher(x);
  std::printf("%d\n", sum);
}
