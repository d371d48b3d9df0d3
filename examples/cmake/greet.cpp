// What each start of the program runs.
#include <cstdio>

static const char *const greetings[] = {"hello", "good day"};

void greet(const char *name) { std::printf("%s, %s\n", greetings[0], name); }
