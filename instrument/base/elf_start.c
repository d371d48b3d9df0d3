/* Reads the beginning of an ELF file. See elf_start.h. */
#include "elf_start.h"

#include "system_calls.h"
#include "text.h"

#include <errno.h>
#include <stdbool.h>

enum { OUR_BYTE_ORDER = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB };

static bool is_our_kind(const Elf64_Ehdr *header) {
  return same_bytes(header->e_ident, (const unsigned char *)ELFMAG, SELFMAG) &&
         header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == OUR_BYTE_ORDER &&
         header->e_phentsize == sizeof(Elf64_Phdr);
}

static void read_header(const struct elf_start *start, Elf64_Ehdr *header) {
  copy_bytes((unsigned char *)header, start->bytes, sizeof *header);
}

int elf_start_read(int fd, struct elf_start *start) {
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
  read_header(start, &header);
  if (!is_our_kind(&header) || header.e_phoff > start->size ||
      header.e_phnum > (start->size - header.e_phoff) / sizeof(Elf64_Phdr))
    return -ENODATA;
  start->segments = header.e_phnum;
  return 0;
}

void elf_start_segment(const struct elf_start *start, unsigned index, Elf64_Phdr *segment) {
  Elf64_Ehdr header;
  read_header(start, &header);
  copy_bytes((unsigned char *)segment, start->bytes + header.e_phoff + index * sizeof *segment,
             sizeof *segment);
}
