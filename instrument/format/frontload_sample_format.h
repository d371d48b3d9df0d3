/* The Frontload sample format, version 2.0: which pages of its files one process had touched when
 * its start was over.
 *
 * A sample is what a program in production can afford to write: it has no names and no addresses,
 * only pages, and is written once, in one piece. instrument/sampler writes it, inside the program,
 * and scripts/frontload/recording/sample.py reads it. Only this header declares the format.
 *
 * All integers of the header are in the byte order of the machine that wrote the sample (byte 8
 * says which). Behind it come the files, `modules` times:
 *
 *     number  flags: enum frontload_sample_module_flags
 *     number  how many bytes the GNU build-id has, then these
 *     number  how many bytes the path has, then these; not zero-terminated
 *     only if FRONTLOAD_SAMPLE_SLICED, how much of the file is told:
 *             number  pages of a stripe, 1 or more
 *             number  how many slices there are, 2 or more
 *             number  which slice it is, from 0: of page p, p / pages modulo how many
 *     number  how many ranges there are, then these, each:
 *       in order of offset:          number  pages since the end of the range before (or 0)
 *                                    number  pages in it, 1 or more
 *       FRONTLOAD_SAMPLE_ORDERED:    number  2 * d, or -2 * d - 1 where d < 0: d pages from the end
 *                                            of the range before (or 0) to its beginning
 *                                    number  pages in it, 1 or more
 *
 * A number is written in LEB128: seven bits in each byte, the lowest first; all bytes but the last
 * have the top bit set. It has at most 9 bytes.
 *
 * A page is `page_size` bytes of the file, counted from its beginning. Ranges in order of offset do
 * not overlap. Ordered ones are in the order of first touch, and may be of one page each.
 *
 * A page counts as touched where the process has it in its page table. The sampler looks at what
 * the process can execute; a sample may have pages of data as well, which tell nothing of
 * functions. Unless the module is exact, the kernel has put neighbours there that nobody has
 * touched: on Linux those of the same aligned window of 64 KiB that were in memory. In an exact
 * module that holds only for what ran before the sampler began: the dynamic linker, and around the
 * entry of a static program.
 *
 * Of a file that is sliced, pages of other slices are not among the ranges, and nothing is known of
 * them. A sample without sliced files is of version 1, which has no others.
 *
 * Compatibility: a reader refuses a newer major version. Within a major version, a newer minor
 * version may add header fields in the reserved space, which `header_size` tells the end of.
 */
#ifndef FRONTLOAD_SAMPLE_FORMAT_H
#define FRONTLOAD_SAMPLE_FORMAT_H

#include "frontload_role.h"

#include <stdint.h>

/* As in frontload_trace.h, but for one letter. */
#define FRONTLOAD_SAMPLE_MAGIC                                                                     \
  "\x89"                                                                                           \
  "FLS\r\n\x1a\n"
#define FRONTLOAD_SAMPLE_MAJOR 2
#define FRONTLOAD_SAMPLE_WITHOUT_SLICES 1
#define FRONTLOAD_SAMPLE_MINOR 0
#define FRONTLOAD_SAMPLE_HEADER_SIZE 96

/* When it was taken. */
enum frontload_sample_end {
  FRONTLOAD_SAMPLE_READY = 1, /* the program called frontload_ready() */
  FRONTLOAD_SAMPLE_EXIT = 2,  /* the program called exit(), or returned from main() */
};

enum frontload_sample_module_flags {
  FRONTLOAD_SAMPLE_MAIN = 1,    /* the program itself */
  FRONTLOAD_SAMPLE_EXACT = 2,   /* each page was touched, since the sampler began */
  FRONTLOAD_SAMPLE_ORDERED = 4, /* the ranges are in the order of first touch */
  FRONTLOAD_SAMPLE_SLICED = 8,  /* only a slice of the file is told */
};

/* 96 bytes. Offsets are given because other languages read this too. */
struct frontload_sample_header {
  char magic[8];        /*   0  FRONTLOAD_SAMPLE_MAGIC */
  uint8_t byte_order;   /*   8  enum frontload_byte_order of frontload_trace.h */
  uint8_t end;          /*   9  enum frontload_sample_end */
  uint16_t machine;     /*  10  e_machine of the program, e.g. 62 for x86-64 */
  uint16_t major;       /*  12  FRONTLOAD_SAMPLE_MAJOR or FRONTLOAD_SAMPLE_WITHOUT_SLICES */
  uint16_t minor;       /*  14  FRONTLOAD_SAMPLE_MINOR */
  uint32_t header_size; /*  16  FRONTLOAD_SAMPLE_HEADER_SIZE */
  uint32_t size;        /*  20  of the whole file: a shorter one was cut */
  uint32_t page_size;   /*  24  a power of two, 4096 or more */
  uint32_t pid;         /*  28  the process */
  uint64_t run;         /*  32  the same in all processes of a run, as in a trace; never 0 */
  uint32_t modules;     /*  40  how many files follow */
  uint8_t forked;       /*  44  1 if another process of the run has forked it */
  uint8_t unused[3];    /*  45  zero */
  char role[FRONTLOAD_ROLE_SIZE]; /*  48  as in a trace; empty: none */
  uint8_t reserved[16];           /*  80  zero */
};

#ifdef __cplusplus
static_assert(sizeof(frontload_sample_header) == FRONTLOAD_SAMPLE_HEADER_SIZE, "see above");
#else
_Static_assert(sizeof(struct frontload_sample_header) == FRONTLOAD_SAMPLE_HEADER_SIZE, "see above");
#endif

#endif
