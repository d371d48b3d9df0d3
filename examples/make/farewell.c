// Another program of the same project, with a start, and so a profile, of its own.
#include <stdio.h>

int rest(int count);

int main(int argc, char **argv) {
  if (argc > 2)
    return rest(argc) == 0;
  printf("bye, %s\n", argc > 1 ? argv[1] : "world");
}
