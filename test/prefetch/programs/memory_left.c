/* Prints what memory_left() of the prefetcher says for a file like /proc/self/cgroup, the folder
 * where cgroups are mounted, and how much is enough. */
#include "base/memory_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  printf("%" PRIu64 "\n", memory_left(argv[1], argv[2], strtoull(argv[3], NULL, 10)));
  return 0;
}
