/* What a recorder has to know of a mapped ELF file: where its segments belong, and who it is. */
#ifndef FRONTLOAD_VALGRIND_MODULE_FILE_H
#define FRONTLOAD_VALGRIND_MODULE_FILE_H

#include <pub_tool_basics.h>

typedef struct {
  Addr address;
  ULong offset, size; /* in the file */
} CodeSegment;

enum { MOST_CODE_SEGMENTS = 16, MOST_BUILD_ID = 64 };

/* All addresses are those of the file: what is in memory, minus the load bias. */
typedef struct ModuleFile {
  HChar *path; /* absolute, as the kernel has it */
  UChar build_id[MOST_BUILD_ID];
  UInt build_id_size; /* 0 if it has none */
  Addr begin, end;    /* of all that is loaded */
  Bool is_cut;        /* the end is before that: the file says that it needs very much memory */
  CodeSegment code[MOST_CODE_SEGMENTS];
  UInt num_code;
  Bool is_position_independent;
  HChar *interpreter, *soname; /* NULL if it has none */

  UInt number; /* in the trace; 0: not announced yet */
  struct ModuleFile *next;
} ModuleFile;

/* Reads the file that is mapped under this name. NULL if it is no ELF file of this machine. The
 * same file is read once: by its path, its build-id and its segments. */
ModuleFile *module_file(const HChar *name);
/* Whether two files have the same build-id, and the same segments; a file without a build-id has no
 * copies. */
Bool module_is_copy(const ModuleFile *a, const ModuleFile *b);
/* Whether Valgrind can run a program: it is one of this machine that runs as whoever starts it, or
 * a script. Valgrind looks at more of the headers than kernels do. */
Bool module_can_run(const HChar *name);
/* The name of a file: what follows the last slash of its path. */
const HChar *module_name(const HChar *path);
/* All that were read. */
ModuleFile *module_files(void);

/* How far above its own addresses the file lies, if what is at `offset` in it is mapped as code at
 * `address`. False if no code of it is there. */
Bool module_bias(const ModuleFile *file, ULong offset, Addr address, Addr *bias);

/* The function of this name, by the symbol tables of the file. False if it has none. */
Bool module_function(const ModuleFile *file, const HChar *name, Addr *address, ULong *size);

#endif
