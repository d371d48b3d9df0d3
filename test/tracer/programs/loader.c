/* Opens shared libraries: loader LIBRARY WHAT [LIBRARY] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *open_it(const char *path) {
  void *handle = dlopen(path, RTLD_NOW);
  if (!handle) {
    fprintf(stderr, "%s\n", dlerror());
    exit(9);
  }
  return handle;
}

static void call(void *handle, const char *name) {
  ((void (*)(void))dlsym(handle, name))();
}

static unsigned long address_of(void *handle) {
  struct link_map *map;
  dlinfo(handle, RTLD_DI_LINKMAP, &map);
  return map->l_addr;
}

int main(int argc, char **argv) {
  void *handle = open_it(argv[1]);
  call(handle, "part_one");
  if (!strcmp(argv[2], "reload")) {
    /* The address is taken when the library comes back. */
    unsigned long address = address_of(handle);
    dlclose(handle);
    unsigned char *block = mmap((void *)address, 16384, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (block == MAP_FAILED)
      return 8;
    memset(block, 0xcc, 16384);
    handle = open_it(argv[argc - 1]);
    if (address_of(handle) == address)
      return 7;
    call(handle, "part_one");
    call(handle, "part_two");
    for (int i = 0; i < 16384; ++i)
      if (block[i] != 0xcc)
        return 6;
  }
  if (!strcmp(argv[2], "twice")) {
    void *second = dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW);
    call(second, "part_two");
    call(second, "part_one");
    call(handle, "part_two");
  }
  return 0;
}
