/* Opens libraries and calls what is in them, as its arguments say, one after the other:
 *
 *   open=PATH, close     a library; instance=PATH opens it once more, beside the first
 *   occupy, kept, free   closes it and takes its place, or that of its `numbers`; ends with 6 if
 *                        what was written there is not there any more; gives it back
 *   here, elsewhere      ends with 77 if a library does not lie where the first did; with 1 if so
 *   call=NAME            calls a function; often=NAME: a thousand times, between marks
 *   touch=N, former=N    writes to its numbers[N], or to where they were before
 *   count                prints how many mappings there are
 *   fork                 lets a child do the rest
 *   chroot=PATH          changes its root
 *   clear                clears its environment
 *   taken=PROTECTION     takes the place by which copies of the runtime find each other
 *   spoil                gives its ELF header a nonsensical place of program headers
 *   limit                forbids itself more memory
 * The tests' prelude comes before this. */

void __sanitizer_cov_store4(void *) __attribute__((weak));
static struct link_map *library;
static int *numbers;
static char *first, *former;

NOT_RECORDED static void take(void *place, size_t size, int protection) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  if (mmap(place, size, protection, flags, -1, 0) != place)
    exit(98);
}

NOT_RECORDED static void open_library(const char *path, int again) {
  library = again ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW);
  if (!library) {
    puts(dlerror());
    exit(99);
  }
  numbers = dlsym(library, "numbers");
  if (!first)
    first = (char *)library->l_addr;
}

NOT_RECORDED static void call(const char *name, int times) {
  void (*function)(void) = (void (*)(void))dlsym(library, name);
  for (int i = 0; i < times; ++i)
    function();
}

NOT_RECORDED static void count_mappings(void) {
  char line[500];
  int count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps))
    ++count;
  fclose(maps);
  printf("%d ", count);
}

NOT_RECORDED static void spoil(ElfW(Ehdr) * header) {
  mprotect(header, 4096, PROT_READ | PROT_WRITE | PROT_EXEC); /* it may have code */
  header->e_phoff = UINT64_MAX - 100;
}

NOT_RECORDED static int is(const char *word, const char *what) {
  return !strncmp(word, what, strcspn(word, "=")) && what[strcspn(word, "=")] == '\0';
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    const char *word = argv[i], *value = strchr(word, '=') ? strchr(word, '=') + 1 : "";
    if (is(word, "open"))
      open_library(value, 0);
    else if (is(word, "instance"))
      open_library(value, 1);
    else if (is(word, "close"))
      dlclose(library);
    else if (is(word, "occupy")) {
      former = numbers ? (char *)numbers : (char *)library->l_addr;
      dlclose(library);
      take(former, 16384, PROT_READ | PROT_WRITE);
      memset(former, 0xcc, 16384);
    } else if (is(word, "kept")) {
      for (int k = 0; k < 16384; ++k)
        if (former[k] != (char)0xcc)
          return 6;
    } else if (is(word, "free"))
      munmap(former, 16384);
    else if (is(word, "here") && (char *)library->l_addr != first)
      return 77;
    else if (is(word, "elsewhere") && (char *)library->l_addr == first)
      return 1;
    else if (is(word, "call"))
      call(value, 1);
    else if (is(word, "often")) {
      write(-1, "often", 5);
      call(value, 1000);
      write(-1, "often", 5);
    } else if (is(word, "touch"))
      __sanitizer_cov_store4(numbers + atoi(value));
    else if (is(word, "former"))
      __sanitizer_cov_store4(former + 4 * atoi(value));
    else if (is(word, "count"))
      count_mappings();
    else if (is(word, "fork") && fork())
      return wait(0) < 0;
    else if (is(word, "chroot") && (chroot(value) || chdir("/")))
      return 5;
    else if (is(word, "clear"))
      clearenv();
    else if (is(word, "taken"))
      take((void *)0x464c54520000, 65536, atoi(value));
    else if (is(word, "spoil"))
      spoil((void *)library->l_addr);
    else if (is(word, "limit"))
      setrlimit(RLIMIT_AS, &(struct rlimit){4096, 4096});
  }
  return 0;
}
