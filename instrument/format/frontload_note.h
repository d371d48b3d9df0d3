/* The Frontload note, version 3: which parts of a linked file a start needs, noted in the file
 * itself.
 *
 * ld.frontload writes the front into the note. Other linkers pass a blank note through, from an
 * object with room for ranges (instrument/prefetch/note.S), and `frontload finish` fills it in.
 * What prefetches (instrument/prefetch) reads it at run time, before the program or library is
 * relocated. Only this header declares the format. It is plain C: the writer is C++, and the reader
 * may use nothing else.
 *
 * The note is an ordinary ELF note in the allocated section `.note.frontload` (SHT_NOTE, aligned to
 * 4) and in a PT_NOTE segment, so strip and objcopy keep it. Linkers put it near the beginning of
 * the file, which the kernel has read by the time the program runs.
 *
 *   byte   0  u32  name size: 10
 *   byte   4  u32  descriptor size: 8 + 16 * r; r is the room of the note, 1 to 128 ranges
 *   byte   8  u32  type: 1
 *   byte  12  the name, "Frontload", a zero, and two zeros of padding
 *   byte  24  u32  version: 3
 *   byte  28  u32  in its lower 16 bits n: the number of ranges, 1 to r, or 0 in a blank note;
 *                  in its upper 16 bits t: how many of these, the last ones, are the tail; t < n
 *   byte  32  n times: u64, the address of a range's first byte; u64, the address one past its last
 *   then           zeros, up to byte 32 + 16 * r
 *
 * All integers are in the byte order of the file. The addresses are u64 in 32-bit files too. They
 * are aligned only to 4, so a reader has to copy them out. The room is fixed before the linker
 * knows how many ranges there are. Readers skip the room that is left.
 *
 * A *range* is a part of the file that is to be prefetched. The ranges stand in the order in which
 * they are to be asked for: not necessarily that of the file. Parts that are not worth prefetching
 * are in no range. A part in two ranges is asked for twice, and read once.
 *
 * The *tail* is what starts outside of the training are likely to need. It is asked for once a
 * start has left the front, so no other start reads it or waits for it.
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
 * Readers look for the first 24 bytes at each multiple of 4 in a PT_NOTE segment, because some
 * linkers put notes of different alignments into one segment. They skip blank notes; the first note
 * that is not blank counts. It is invalid if its version is not 3, if it is cut, if n is more than
 * r or 128, if t is not less than n, if a range is empty, if a beginning or an end lies in no
 * PT_LOAD, or if a range is larger or smaller in the file than in memory. A reader treats a file
 * with an invalid note as one without a note.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define FRONTLOAD_NOTE_SECTION ".note.frontload"
#define FRONTLOAD_NOTE_ALIGNMENT 4
#define FRONTLOAD_NOTE_NAME "Frontload" /* its sizeof, with the zero, is the name size */
#define FRONTLOAD_NOTE_TYPE 1
#define FRONTLOAD_NOTE_VERSION 3
#define FRONTLOAD_NOTE_MAX_RANGES 128
#define FRONTLOAD_NOTE_FRONT_RANGES 16 /* the room of a note that ld.frontload writes */

/* The beginning of a note, up to its ranges, with offsets: other languages read this too. */
struct frontload_note {
  uint32_t name_size;       /*  0  sizeof FRONTLOAD_NOTE_NAME */
  uint32_t descriptor_size; /*  4  FRONTLOAD_NOTE_DESCRIPTOR_SIZE of its room */
  uint32_t type;            /*  8  FRONTLOAD_NOTE_TYPE */
  char name[12];            /* 12  FRONTLOAD_NOTE_NAME */
  uint32_t version;         /* 24  FRONTLOAD_NOTE_VERSION */
  uint32_t count;           /* 28  FRONTLOAD_NOTE_COUNT */
};

#define FRONTLOAD_NOTE_COUNT(front, tail) (((front) + (tail)) | (tail) << 16)
#define FRONTLOAD_NOTE_RANGES(count) ((count) & 0xffff)
#define FRONTLOAD_NOTE_TAIL(count) ((count) >> 16)
#define FRONTLOAD_NOTE_DESCRIPTOR_SIZE(room) (8 + 16 * (size_t)(room))
#define FRONTLOAD_NOTE_HEAD_SIZE 24 /* without the descriptor */
#define FRONTLOAD_NOTE_SIZE(room) (FRONTLOAD_NOTE_HEAD_SIZE + FRONTLOAD_NOTE_DESCRIPTOR_SIZE(room))

static_assert(offsetof(struct frontload_note, version) == FRONTLOAD_NOTE_HEAD_SIZE &&
                  sizeof(struct frontload_note) == FRONTLOAD_NOTE_SIZE(0),
              "see above");
