// A file that a program under the data recorder executes: whether that is plainly a program of this
// machine, or a script for one. The kernel is not asked, which would execute what is not.
#include "valgrind/refused_exec.c"

#include "input_file.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = inputPath(data, size);
  if (judge(path) == PLAIN && memcmp(data, "#!", 2) && memcmp(data, ELFMAG, SELFMAG))
    abort(); // no kernel executes it
  return 0;
}
