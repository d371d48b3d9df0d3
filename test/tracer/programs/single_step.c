/* An independent witness: runs a program one instruction at a time and prints on stderr, in
 * hexadecimal, every new address of its main module that was executed, in order. Slow, simple, and
 * without breakpoints.
 *
 *   single_step ENTRY LOWEST HIGHEST PROGRAM ARG...
 *
 * The addresses are as in the file; the kernel tells the program where its entry point is, and so
 * gives away the load bias. */
#include "../../step.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long entry_of(pid_t process) {
  char path[64];
  unsigned long pair[2];
  sprintf(path, "/proc/%d/auxv", process);
  FILE *file = fopen(path, "r");
  while (file && fread(pair, sizeof pair, 1, file) == 1)
    if (pair[0] == AT_ENTRY) {
      fclose(file);
      return pair[1];
    }
  exit(1);
}

int main(int argc, char **argv) {
  unsigned long entry = strtoul(argv[1], NULL, 16), low = strtoul(argv[2], NULL, 16),
                high = strtoul(argv[3], NULL, 16);
  unsigned char *seen = calloc(1, high - low + 1);
  int status, signal = 0;
  (void)argc;
  pid_t child = start_stopped(argv + 4, &status);
  unsigned long bias = entry_of(child) - entry;
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
