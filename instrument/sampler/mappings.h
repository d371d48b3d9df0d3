/* Where a process has mapped code of files: of the program and its libraries.
 *
 * Like all that lives inside somebody else's program, this uses no libc (base/system_calls.h).
 */
#ifndef FRONTLOAD_MAPPINGS_H
#define FRONTLOAD_MAPPINGS_H

#include <stddef.h>
#include <stdint.h>

struct mapping {
  uintptr_t begin, end;
  uint64_t offset; /* in the file */
  unsigned file;   /* number */
};

/* A file is what has a path, and was mapped, not read: what JIT compilers make has none. */
struct mapped_file {
  uint64_t device, inode;
  const char *path;
  size_t path_size;
};

enum { MOST_FILES = 512, MOST_MAPPINGS = 16384 }; /* a file may have 20 (slice.h) */

struct mappings {
  unsigned file_count, mapping_count;
  struct mapped_file file[MOST_FILES];
  struct mapping mapping[MOST_MAPPINGS]; /* by address */
  size_t text_size;
  char *text; /* what the kernel says, in which the paths are */
};

/* Of this process: what it can execute. NULL if the kernel does not tell, or there are too many. */
struct mappings *read_mappings(void);
/* The offset up to which a file is mapped as code. */
uint64_t mapped_end(const struct mappings *mappings, unsigned file);
void free_mappings(struct mappings *mappings);

#endif
