// A program that says hello, which is what it starts for, and can do other things, which it seldom does.
#include <stdio.h>

int rest(int count);

static const char *const greetings[] = {"hello", "good day"};

static void greet(const char *name, int politely) {
  printf("%s, %s\n", greetings[politely], name);
}

int main(int argc, char **argv) {
  if (argc > 2)
    return rest(argc) == 0;
  greet(argc > 1 ? argv[1] : "world", argc > 1);
}
