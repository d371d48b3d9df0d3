// Constructors and destructors with priorities keep their order.
#include <cstdio>

__attribute__((constructor(300))) void cold_third() { std::printf("3 "); }
__attribute__((constructor(101))) void hot_2_first() { std::printf("1 "); }
__attribute__((constructor(200))) void hot_1_second() { std::printf("2 "); }
__attribute__((destructor(101))) void cold_last() { std::printf("last\n"); }
__attribute__((destructor(200))) void hot_3_before() { std::printf("before "); }

struct Global {
  Global() { std::printf("global "); }
  ~Global() { std::printf("~global "); }
} global;

int main() {
  std::printf("main ");
  return 0;
}
