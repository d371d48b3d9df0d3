/* An independent witness: runs a program one instruction at a time and prints on stderr, in
 * hexadecimal, every new address of its main module that was executed, in order. Slow, simple, and
 * without breakpoints.
 *
 *   single_step LOWEST HIGHEST PROGRAM ARG...
 *
 * The addresses are as in the file; the kernel tells the program where its entry point is, and so
 * gives away the load bias. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

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

#ifdef __x86_64__

#define PROGRAM_COUNTER rip

static int step(pid_t child, unsigned long at, int signal) {
  int status;
  (void)at;
  ptrace(PTRACE_SINGLESTEP, child, 0, signal);
  waitpid(child, &status, 0);
  return status;
}

#else

#define PROGRAM_COUNTER pc

static const unsigned BREAKPOINT = 0xd4200000;

static unsigned read_code(pid_t child, unsigned long at) {
  return (unsigned)ptrace(PTRACE_PEEKTEXT, child, at, 0);
}

static void write_code(pid_t child, unsigned long at, unsigned code) {
  unsigned long next = (unsigned long)ptrace(PTRACE_PEEKTEXT, child, at, 0) >> 32 << 32;
  ptrace(PTRACE_POKETEXT, child, at, next | code);
}

static int is_exclusive(unsigned code, int is_load) {
  return (code & 0x3fc00000) == (is_load ? 0x08400000 : 0x08000000);
}

/* Where a conditional branch goes, or 0. */
static unsigned long branch_target(unsigned code, unsigned long at) {
  int is_branch = (code & 0xff000010) == 0x54000000 || (code & 0x7e000000) == 0x34000000;
  return is_branch ? at + (long)((int)(code << 8) >> 13) * 4 : 0;
}

/* A store that must follow an exclusive load without an interruption fails for ever if each
 * instruction is one. These few are run at once, to where they end or are left. */
static int step(pid_t child, unsigned long at, int signal) {
  unsigned long ends[2] = {0, 0}, last = at + 64;
  int status;
  if (is_exclusive(read_code(child, at), 1))
    for (unsigned long next = at + 4; next < last && !ends[0]; next += 4) {
      unsigned code = read_code(child, next);
      if (is_exclusive(code, 0))
        ends[0] = next + 4;
      else if (branch_target(code, next))
        ends[1] = branch_target(code, next);
    }
  unsigned replaced[2];
  for (int i = 0; i < 2; ++i)
    if (ends[0] && ends[i]) {
      replaced[i] = read_code(child, ends[i]);
      write_code(child, ends[i], BREAKPOINT);
    }
  ptrace(ends[0] ? PTRACE_CONT : PTRACE_SINGLESTEP, child, 0, signal);
  waitpid(child, &status, 0);
  for (int i = 1; i >= 0; --i)
    if (ends[0] && ends[i])
      write_code(child, ends[i], replaced[i]);
  return status;
}

#endif

int main(int argc, char **argv) {
  unsigned long low = strtoul(argv[1], NULL, 16), high = strtoul(argv[2], NULL, 16);
  unsigned char *seen = calloc(1, high - low + 1);
  char path[64];
  int status;
  (void)argc;
  pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    execv(argv[3], argv + 3);
    _exit(127);
  }
  waitpid(child, &status, 0);
  sprintf(path, "/proc/%d/auxv", child);
  unsigned long bias = entry_of(path, "auxv") - entry_of(argv[3], "elf");
  int signal = 0;
  while (WIFSTOPPED(status)) {
    struct user_regs_struct registers;
    struct iovec all = {&registers, sizeof registers};
    ptrace(PTRACE_GETREGSET, child, NT_PRSTATUS, &all);
    unsigned long address = registers.PROGRAM_COUNTER - bias;
    if (address >= low && address <= high && !seen[address - low]) {
      seen[address - low] = 1;
      fprintf(stderr, "%lx\n", address);
    }
    status = step(child, registers.PROGRAM_COUNTER, signal);
    signal = WIFSTOPPED(status) && WSTOPSIG(status) != SIGTRAP ? WSTOPSIG(status) : 0;
  }
  return 0;
}
