/* Finds the front of a file by its note (see frontload_note.h), and asks the kernel for it. Nothing
 * in the file is trusted. All of this runs in an IFUNC resolver, where nothing is initialized yet:
 * no libc, no errno, no thread-local storage, only raw system calls. */
#pragma once

#include "base/elf_start.h"
#include "base/system_calls.h"
#include "format/frontload_note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct front {
  uint64_t size;     /* the bytes of its ranges */
  uint64_t tail;     /* those of its tail */
  uint64_t asked;    /* the bytes asked for: fewer if memory is limited */
  bool was_resident; /* nothing had to be done; false if too small to probe */
  bool misses_tail;  /* prefetch_tail() is worth a process of its own */
};

/* On every machine, files are read in multiples of this. */
enum { MIN_PAGE = 4096 };

/* prefetch_range() asks for so many bytes at once (front.c has the measurement). */
enum { LARGE_PIECE = 1 << 20 };

/* From the offset `begin` to before `end`. */
struct range {
  uint64_t begin, end;
};

/* In the order in which they are to be asked for. None is empty. */
struct ranges {
  unsigned count;
  unsigned of_front; /* the others are the tail */
  struct range range[FRONTLOAD_NOTE_MAX_RANGES];
};

/* The ranges of the file's front and of its tail, none if it has no valid note. Ranges that follow
 * each other in the file, with no page between them, become one. */
void find_ranges(int fd, const struct elf_start *start, struct ranges *ranges);

/* Asks for a range of a file, and does not wait. Returns 0, or a negative errno. */
int prefetch_range(int fd, const struct range *range);

/* Returns 0, or a negative errno: -ENODATA if the file has no front that can be found. */
int prefetch_front(int fd, struct front *front);

/* Opens a file of any kind: a pipe or terminal must not make us wait, nor become our terminal.
 * Returns a negative errno on failure. */
static inline int open_to_prefetch(const char *path) {
  return sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

/* The ranges of a file, and how many bytes its front and its tail have. */
int read_front(int fd, struct ranges *ranges, struct front *front);

/* Leaves as many of the ranges, of `size` bytes, as the memory allows. */
void leave_memory(struct ranges *ranges, uint64_t *size);

/* tail.c: asks for the tail of the file at `path`, at the lowest priority, once the process that
 * starts from it needs what is not in its front. For a process of its own (start_beside), as that
 * takes 0.4 ms per MB. It ends with the program. */
void prefetch_tail(const char *path, uint32_t program);

/* at_start.c: asks for the front of this program, the first time that it is called. */
void frontload_prefetch_own_front(void);

/* at_start.c: waits for the child that frontload_prefetch_own_front() made. It ends within 0.1 ms.
 */
void frontload_prefetch_end_start(void);

/* before_main.c: a constructor that calls these two functions. */
void frontload_prefetch_before_main(void);

/* residency.c: whether pages of a file are in memory, found out without reading the file. */

/* A file that is being probed: begin_look, any number of probes, end_look. */
struct look {
  int fd;
  char *mapping; /* NULL before it is needed */
  size_t size;
  bool cannot_map; /* or is mapped already */
  bool cannot_read;
  uint64_t blocks_read; /* by this thread, when the look began */
};

void begin_look(struct look *look, int fd);
void end_look(struct look *look); /* leaves the file open */

enum residency { NOT_RESIDENT, RESIDENT, RESIDENCY_UNTOLD };

/* The residency of the page at `offset`. A probe may start the read of a missing page. On a fast
 * disk, that page may even be called RESIDENT (see look_has_read). */
enum residency residency_of(struct look *look, uint64_t offset);

/* Whether this thread has read from a device since the look began. */
bool look_has_read(const struct look *look);

/* residency_of() without starting a read: only for the caller's own files, and slower. */
enum residency residency_left_alone(struct look *look, uint64_t offset);

/* The same for whole pages from `offset` on: bit 0 of each page's byte. False if that is untold. */
bool residency_of_range(struct look *look, uint64_t offset, uint64_t size, unsigned char *pages);
