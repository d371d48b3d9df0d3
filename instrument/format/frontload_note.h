/* The Frontload note, version 2: where the front of a linked file is, told in the file itself.
 *
 * ld.frontload writes the note. What prefetches a front (instrument/prefetch) reads it at run time,
 * before the program or library is relocated. Only this header declares the format. It is plain C:
 * the writer is C++, and the reader may use nothing else.
 *
 * The note is an ordinary ELF note in the allocated section `.note.frontload` (SHT_NOTE, aligned to
 * 4) and in a PT_NOTE segment, so strip and objcopy keep it. The linker puts it into the first page
 * of the file, which the kernel has read by the time the program runs.
 *
 *   byte   0  u32  name size: 10
 *   byte   4  u32  descriptor size: 264
 *   byte   8  u32  type: 1
 *   byte  12  the name, "Frontload", a zero, and two zeros of padding
 *   byte  24  u32  version: 2
 *   byte  28  u32  n: the number of ranges, 1 to 16
 *   byte  32  n times: u64, the address of a range's first byte; u64, the address one past its last
 *   then           zeros, up to byte 288
 *
 * All integers are in the byte order of the file. The addresses are u64 in 32-bit files too. They
 * are aligned only to 4, so a reader has to copy them out. The note has room for 16 ranges always,
 * because it has its place in the file before the linker knows how many there are; nobody reads the
 * room that is left.
 *
 * A *range* is a part of the file that is to be prefetched. The ranges stand in the order in which
 * they are to be asked for, which is that of their first touch: not necessarily that of the file.
 * No two overlap. Whatever is not worth prefetching is in no range. The first range usually starts
 * at the first byte of the file.
 *
 * The addresses are virtual, as in p_vaddr, because tools that edit a linked file may move its
 * contents within the file but keep their addresses. The first PT_LOAD that satisfies this gives
 * the offset of a range's beginning or end; an end may be one past the last byte of a segment:
 *
 *     p_vaddr <= begin <  p_vaddr + p_filesz      offset = p_offset + (begin - p_vaddr)
 *     p_vaddr <= end   <= p_vaddr + p_filesz      offset = p_offset + (end - p_vaddr)
 *
 * A range may span several segments, if all of it is in the file as it is in memory: the offsets of
 * its beginning and its end are as far apart as their addresses.
 *
 * A note is invalid if its version is not 2, if its size is not the one above, if n is not 1 to 16,
 * if a range is empty, if a beginning or an end lies in no PT_LOAD, or if a range is larger or
 * smaller in the file than in memory, or overlaps another. A reader treats a file with an invalid
 * note as one without a note.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRONTLOAD_NOTE_SECTION ".note.frontload"
#define FRONTLOAD_NOTE_ALIGNMENT 4
#define FRONTLOAD_NOTE_NAME "Frontload" /* its sizeof, with the zero, is the name size */
#define FRONTLOAD_NOTE_TYPE 1
#define FRONTLOAD_NOTE_VERSION 2
#define FRONTLOAD_NOTE_MAX_RANGES 16

/* Offsets are given because other languages read this too. */
struct frontload_note {
  uint32_t name_size;       /*  0  sizeof FRONTLOAD_NOTE_NAME */
  uint32_t descriptor_size; /*  4  FRONTLOAD_NOTE_DESCRIPTOR_SIZE */
  uint32_t type;            /*  8  FRONTLOAD_NOTE_TYPE */
  char name[12];            /* 12  FRONTLOAD_NOTE_NAME */
  uint32_t version;         /* 24  FRONTLOAD_NOTE_VERSION */
  uint32_t count;           /* 28  how many ranges there are */
  /* 32  the beginning and the end of each range */
  uint64_t addresses[2 * FRONTLOAD_NOTE_MAX_RANGES];
};

#define FRONTLOAD_NOTE_DESCRIPTOR_SIZE (8 + 16 * (size_t)FRONTLOAD_NOTE_MAX_RANGES)
#define FRONTLOAD_NOTE_SIZE (24 + FRONTLOAD_NOTE_DESCRIPTOR_SIZE)

#ifdef __cplusplus
static_assert(offsetof(frontload_note, version) == 24 &&
                  offsetof(frontload_note, addresses) == 32 &&
                  sizeof(frontload_note) == FRONTLOAD_NOTE_SIZE,
              "see above");
#else
_Static_assert(offsetof(struct frontload_note, version) == 24 &&
                   offsetof(struct frontload_note, addresses) == 32 &&
                   sizeof(struct frontload_note) == FRONTLOAD_NOTE_SIZE,
               "see above");
#endif
