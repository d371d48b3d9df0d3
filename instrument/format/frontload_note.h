/* The Frontload note, version 1: where a linked file's front ends, told in the file itself.
 *
 * ld.frontload writes the note. What prefetches a front (instrument/prefetch) reads it at run time,
 * before the program or library is relocated. Only this header declares the format. It is plain C:
 * the writer is C++, and the reader may use nothing else.
 *
 * The note is an ordinary ELF note in the allocated section `.note.frontload` (SHT_NOTE, aligned to
 * 4) and in a PT_NOTE segment, so strip and objcopy keep it. The linker puts it into the first page
 * of the file, which the kernel has read by the time the program runs.
 *
 *   byte  0  u32  name size: 10
 *   byte  4  u32  descriptor size: 8 + 8 * n
 *   byte  8  u32  type: 1
 *   byte 12  the name, "Frontload", a zero, and two zeros of padding
 *   byte 24  u32  version: 1
 *   byte 28  u32  n: the number of tiers, 1 to 8
 *   byte 32  n times u64: the tier's end, the address one past its last byte
 *
 * All integers are in the byte order of the file. The ends are u64 in 32-bit files too. They are
 * aligned only to 4, so a reader has to copy them out.
 *
 * A *tier* is a part of the file that is to be prefetched. Tier 0 starts at offset 0, and each
 * other tier starts where the one before it ends. Whatever is not worth prefetching is in no tier.
 *
 * The ends are virtual addresses, as in p_vaddr, because tools that edit a linked file may move its
 * contents within the file but keep their addresses. The first PT_LOAD that satisfies this gives
 * the offset of an end:
 *
 *     p_vaddr <= end <= p_vaddr + p_filesz        offset = p_offset + (end - p_vaddr)
 *
 * A note is invalid if its version is not 1, if its size does not fit n, if n is not 1 to 8, if an
 * end lies in no PT_LOAD, or if the offsets do not ascend. A reader treats a file with an invalid
 * note as one without a note.
 */
#ifndef FRONTLOAD_NOTE_H
#define FRONTLOAD_NOTE_H

#include <stddef.h>
#include <stdint.h>

#define FRONTLOAD_NOTE_SECTION ".note.frontload"
#define FRONTLOAD_NOTE_ALIGNMENT 4
#define FRONTLOAD_NOTE_NAME "Frontload" /* its sizeof, with the zero, is the name size */
#define FRONTLOAD_NOTE_TYPE 1
#define FRONTLOAD_NOTE_VERSION 1
#define FRONTLOAD_NOTE_MAX_TIERS 8

/* The note with as many tiers as it can have; the first FRONTLOAD_NOTE_SIZE(n) bytes are the note
 * with n tiers. Offsets are given because other languages read this too. */
struct frontload_note {
  uint32_t name_size;                      /*  0  sizeof FRONTLOAD_NOTE_NAME */
  uint32_t descriptor_size;                /*  4  FRONTLOAD_NOTE_DESCRIPTOR_SIZE(tiers) */
  uint32_t type;                           /*  8  FRONTLOAD_NOTE_TYPE */
  char name[12];                           /* 12  FRONTLOAD_NOTE_NAME */
  uint32_t version;                        /* 24  FRONTLOAD_NOTE_VERSION */
  uint32_t tiers;                          /* 28  how many of `ends` there are */
  uint64_t ends[FRONTLOAD_NOTE_MAX_TIERS]; /* 32  addresses, ascending */
};

#define FRONTLOAD_NOTE_DESCRIPTOR_SIZE(tiers) (8 + 8 * (size_t)(tiers))
#define FRONTLOAD_NOTE_SIZE(tiers) (24 + FRONTLOAD_NOTE_DESCRIPTOR_SIZE(tiers))

#ifdef __cplusplus
static_assert(offsetof(frontload_note, version) == 24 && offsetof(frontload_note, ends) == 32 &&
                  sizeof(frontload_note) == FRONTLOAD_NOTE_SIZE(FRONTLOAD_NOTE_MAX_TIERS),
              "see above");
#else
_Static_assert(offsetof(struct frontload_note, version) == 24 &&
                   offsetof(struct frontload_note, ends) == 32 &&
                   sizeof(struct frontload_note) == FRONTLOAD_NOTE_SIZE(FRONTLOAD_NOTE_MAX_TIERS),
               "see above");
#endif

#endif
