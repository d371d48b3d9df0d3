/* Opens a library and calls cc1_main in it, as a program does with its plugins, to measure cc1 as a
 * library. usage: open_cc1 [--prefetch] LIBRARY ARGUMENT... */
#include <dlfcn.h>
#include <frontload_prefetch.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  int first = argc > 1 && strcmp(argv[1], "--prefetch") == 0 ? 2 : 1;
  if (first >= argc)
    return 2;
  /* A start without the prefetch must not pass for one with it. */
  if (first == 2 && frontload_prefetch(argv[2]) != 0) {
    fprintf(stderr, "open_cc1: error: %s: its front cannot be prefetched\n", argv[2]);
    return 2;
  }
  void *library = dlopen(argv[first], RTLD_NOW);
  int (*cc1_main)(int, char **) = library ? (int (*)(int, char **))dlsym(library, "cc1_main") : 0;
  if (!cc1_main) {
    fprintf(stderr, "open_cc1: error: %s\n", dlerror());
    return 2;
  }
  return cc1_main(argc - first, argv + first);
}
