/* The beginning of an ELF file: its header and program headers, read at once and checked.
 *
 * It accepts only files of the machine's own kind (64 bits, its byte order), because the program
 * that asks can run or open only those. Nothing in the file is trusted.
 */
#ifndef FRONTLOAD_ELF_START_H
#define FRONTLOAD_ELF_START_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel reads this much of a program anyway, and linkers put the headers and notes there. */
enum { ELF_START_SIZE = 4096 };

struct elf_start {
  uint64_t file_size;
  size_t size; /* of `bytes`: less in a smaller file */
  unsigned segments;
  unsigned char bytes[ELF_START_SIZE];
};

/* 0, -ENODATA if the file is of another kind, or another negative errno. */
int elf_start_read(int fd, struct elf_start *start);

/* Program header `index`, below `segments`. */
void elf_start_segment(const struct elf_start *start, unsigned index, Elf64_Phdr *segment);

#endif
