// A program that says hello, which is what it starts for, and seldom does anything else.
#include <cstring>

void greet(const char *name);
int doRest(int count);

int main(int argc, char **argv) {
  if (argc == 3 && !std::strcmp(argv[1], "--rest"))
    return doRest(argc) == 0;
  greet(argc == 3 && !std::strcmp(argv[1], "--name") ? argv[2] : "world");
}
