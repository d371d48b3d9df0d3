/* The beginning of an ELF file: its header and program headers, read at once and checked.
 *
 * It accepts only files of the machine's own kind (64 bits, its byte order), because the program
 * that asks can run or open only those. Nothing in the file is trusted.
 */
#pragma once

#include "system_calls.h"
#include "text.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
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

enum { OUR_BYTE_ORDER = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB };

static inline bool is_elf_of_our_kind(const Elf64_Ehdr *header) {
  return same_bytes(header->e_ident, (const unsigned char *)ELFMAG, SELFMAG) &&
         header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == OUR_BYTE_ORDER &&
         header->e_phentsize == sizeof(Elf64_Phdr);
}

static inline void elf_start_header(const struct elf_start *start, Elf64_Ehdr *header) {
  copy_bytes((unsigned char *)header, start->bytes, sizeof *header);
}

/* 0, -ENODATA if the file is of another kind, or another negative errno. */
static inline int elf_start_read(int fd, struct elf_start *start) {
  struct stat status;
  long result = sys_fstat(fd, &status);
  if (result < 0)
    return (int)result;
  result = sys_pread(fd, start->bytes, sizeof start->bytes, 0);
  if (result < 0)
    return (int)result;
  start->file_size = (uint64_t)status.st_size;
  start->size = (size_t)result;

  Elf64_Ehdr header;
  if (start->size < sizeof header)
    return -ENODATA;
  elf_start_header(start, &header);
  if (!is_elf_of_our_kind(&header) || header.e_phoff > start->size ||
      header.e_phnum > (start->size - header.e_phoff) / sizeof(Elf64_Phdr))
    return -ENODATA;
  start->segments = header.e_phnum;
  return 0;
}

/* Program header `index`, below `segments`. */
static inline void elf_start_segment(const struct elf_start *start, unsigned index,
                                     Elf64_Phdr *segment) {
  Elf64_Ehdr header;
  elf_start_header(start, &header);
  copy_bytes((unsigned char *)segment, start->bytes + header.e_phoff + index * sizeof *segment,
             sizeof *segment);
}
