/* A mapped ELF file: the place of its segments, and its identity. */
#pragma once

#include <pub_tool_basics.h>

typedef struct {
  Addr address;
  ULong offset, size; /* in the file */
} CodeSegment;

enum { MAX_CODE_SEGMENTS = 16, MAX_BUILD_ID = 64 };

/* All addresses are those of the file: the run-time address minus the load bias. */
typedef struct ModuleFile {
  HChar *path; /* absolute, as the kernel has it */
  UChar build_id[MAX_BUILD_ID];
  UInt build_id_size; /* 0 if it has none */
  Addr begin, end;    /* of all that is loaded */
  Bool is_cut;        /* `end` was lowered: the file claims too much memory */
  CodeSegment code[MAX_CODE_SEGMENTS];
  UInt num_code;
  Bool is_position_independent;
  HChar *interpreter, *soname; /* NULL if it has none */

  UInt number; /* in the trace; 0: not announced yet */
  struct ModuleFile *next;
} ModuleFile;

/* Reads the file that is mapped under this name. NULL if it is no ELF file of this machine. Files
 * with the same path, build-id and segments are one. */
ModuleFile *module_file(const HChar *name);
/* Whether two files have the same build-id, and the same segments; a file without a build-id has no
 * copies. */
Bool module_is_copy(const ModuleFile *a, const ModuleFile *b);
/* Whether Valgrind can run a program: it is one of this machine without rights of its own, or a
 * script. Valgrind checks more of the headers than kernels do. */
Bool module_can_run(const HChar *name);
/* The name of a file: what follows the last slash of its path. */
const HChar *module_name(const HChar *path);
/* All files that were read. */
ModuleFile *module_files(void);

/* The load bias of the file, if its code at `offset` is mapped at `address`. False if it has no
 * code there. */
Bool module_bias(const ModuleFile *file, ULong offset, Addr address, Addr *bias);

/* The function of this name, by the symbol tables of the file at `path`. False if it has none. */
Bool module_function(const HChar *path, const HChar *name, Addr *address, ULong *size);
