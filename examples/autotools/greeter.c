// A program that says hello, which is what it starts for, and can do other things, which it seldom does.
#include <stdio.h>

const char *greeting(int politely);
int rest(int count);

int main(int argc, char **argv) {
  if (argc > 2)
    return rest(argc) == 0;
  printf("%s, %s\n", greeting(argc > 1), argc > 1 ? argv[1] : "world");
}
