// The same of another object.
#include <cstdio>

__attribute__((constructor(201))) static void begin() { std::printf("part201 "); }
__attribute__((constructor)) static void begin_plain() { std::printf("part "); }
__attribute__((destructor)) static void end_plain() { std::printf("~part\n"); }
static int value = [] { return std::printf("lambda ") - 4; }();
int of_part() { return value; }
