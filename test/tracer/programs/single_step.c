/* An independent witness: runs a program one instruction at a time and prints on stderr, in
 * hexadecimal, every new address of its main module that was executed, in order. Slow, simple, and
 * without breakpoints.
 *
 *   single_step LOWEST HIGHEST PROGRAM ARG...
 *
 * The addresses are as in the file; the kernel tells the program where its entry point is, and so
 * gives away the load bias. */
#include "../../step.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long entry_of(const char *path, const char *type) {
  FILE *file = fopen(path, "r");
  unsigned long pair[2];
  if (!file)
    exit(1);
  if (!strcmp(type, "elf")) {
    Elf64_Ehdr header;
    if (fread(&header, sizeof header, 1, file) != 1)
      exit(1);
    fclose(file);
    return header.e_entry;
  }
  while (fread(pair, sizeof pair, 1, file) == 1)
    if (pair[0] == AT_ENTRY) {
      fclose(file);
      return pair[1];
    }
  exit(1);
}

int main(int argc, char **argv) {
  unsigned long low = strtoul(argv[1], NULL, 16), high = strtoul(argv[2], NULL, 16);
  unsigned char *seen = calloc(1, high - low + 1);
  char path[64];
  int status, signal = 0;
  (void)argc;
  pid_t child = start_stopped(argv + 3, &status);
  sprintf(path, "/proc/%d/auxv", child);
  unsigned long bias = entry_of(path, "auxv") - entry_of(argv[3], "elf");
  while (WIFSTOPPED(status)) {
    unsigned long address = program_counter(child) - bias;
    if (address >= low && address <= high && !seen[address - low]) {
      seen[address - low] = 1;
      fprintf(stderr, "%lx\n", address);
    }
    status = step(child, signal);
    signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
  }
  return 0;
}
