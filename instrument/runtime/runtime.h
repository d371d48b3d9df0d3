/* What the parts of the runtime share.
 *
 *   hooks.c           what compilers insert calls to at the start and end of each function
 *   coverage_hooks.c  what clang's -fsanitize-coverage inserts calls to: functions, loads, stores
 *   first_touch.h     the way of a touch that is not the first, inlined into each hook
 *   first_touch.c     what a first touch does
 *   modules.c         which module an address belongs to, and what was touched in it already
 *   function_start.c  where the function begins that an address lies in
 *   trace_file.c      the trace: a shared file mapping that grows
 *   environment.c     what FRONTLOAD_TRACE asks for
 *   diagnostics.c     the one line that is written when recording is not possible
 *
 * The runtime lives inside somebody else's program and must never change what that program does, so
 * there is no malloc, no lock, no stdio, no thread-local storage, no errno, no constructor, and
 * hardly any stack (a handler's alternate stack may be small). What is shared between
 * threads is built privately and published by one compare-and-swap; who comes second throws away
 * what he built and uses what is there.
 *
 * Fork: all state about this process lies in memory that the kernel hands to a child zeroed
 * (MADV_WIPEONFORK) or not at all (MADV_DONTFORK). A child therefore starts anew, in a file of its
 * own, and the fast path needs no check of the pid.
 */
#ifndef FRONTLOAD_RUNTIME_H
#define FRONTLOAD_RUNTIME_H

#include "base/text.h"
#include "format/frontload_trace.h"

#include <linux/limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PATH_CAPACITY = PATH_MAX,
  MODULE_LIMIT = 1024,
  CACHE_SIZE = 1024,       /* a power of two */
  DATA_CACHE_SIZE = 16384, /* a power of two; as many pages are 64 MiB */
  CHUNK_LIMIT = 1024,      /* 256 MiB of trace: 16 million first touches */
  BUILD_ID_LIMIT = 255,
};

/* An object as the dynamic linker sees it at this moment. */
struct object {
  uintptr_t bias;
  uintptr_t start; /* run-time address of its first executable byte */
  size_t size;     /* from there to its last executable byte; what lies between may be data */
  uintptr_t loaded_start; /* run-time address of the page that the first loaded byte is in */
  size_t loaded_size;     /* from there to its last byte, .bss included */
  const unsigned char *unwind_table; /* .eh_frame_hdr, see function_start.c */
  size_t unwind_table_size;          /* 0: it has none */
  const unsigned char *build_id;
  size_t build_id_size; /* 0: it has none */
  const char *name;     /* as the dynamic linker knows it: may be relative */
  bool is_main;
};

/* A module that was touched, between its two first-touch sets. Behind it in memory is that of
 * functions, one bit for each byte of its executable range; before it, growing downwards, that of
 * data, one bit for each granule of all that is loaded. Only `start` ever changes, when the module
 * was unloaded and loaded again elsewhere. */
struct module {
  uintptr_t start; /* atomic, of the executable range; NOWHERE when the module has lost its place */
  size_t size;
  size_t before; /* from the start of what is loaded to `start` */
  size_t loaded_size;
  uintptr_t address; /* of `start` in the module's own (ELF) addresses */
  uint32_t number;
  uint32_t flags;
  size_t build_id_size;
  size_t path_size;
  const char *name; /* the object's name, at the end of `path` */
  unsigned char build_id[BUILD_ID_LIMIT];
  char path[PATH_CAPACITY];
};

enum { TOUCHED_OFFSET = 8192 };
_Static_assert(sizeof(struct module) <= TOUCHED_OFFSET, "the set would overlap the module");

/* Half of the address space away from every user address: nothing is ever within `size` of it. */
#define NOWHERE ((uintptr_t)1 << 63)

/* The trace of one process. */
struct session {
  uint32_t pid;
  bool full; /* atomic; a touch found no room, so no later one may take any */
  uint64_t device, inode;
  struct frontload_trace_header *header;
  unsigned char *chunks[CHUNK_LIMIT]; /* atomic; the parts of the file, the first is header */
  char path[PATH_CAPACITY];
};

/* What the program was started with; a forked child inherits it. */
struct config {
  uint64_t stderr_device, stderr_inode; /* 0 when stderr was closed */
  char pattern[PATH_CAPACITY];          /* absolute; only %p and %% are left to expand */
  char scratch[PATH_CAPACITY];          /* room to work in while the rest is filled */
};

enum { WIPED_OFFSET = 65536 }; /* a multiple of any page size */

struct recorder {
  union {
    struct config config;
    char inherited[WIPED_OFFSET];
  };
  /* From here on zero in a forked child. */
  struct session *session;               /* atomic */
  struct module *modules[MODULE_LIMIT];  /* atomic; filled from the front, module number - 1 */
  struct module *cache[CACHE_SIZE];      /* atomic; see cache_entry */
  uintptr_t data_cache[DATA_CACHE_SIZE]; /* atomic; see data_cache_entry */
};

/* The runtime's one variable: NULL before the first touch, NOT_RECORDING, or the recorder. Hidden,
 * because it is looked at before relocation, too. */
extern struct recorder *frontload_recorder __attribute__((visibility("hidden")));
#define NOT_RECORDING ((struct recorder *)1)

static inline bool is_recording(const struct recorder *recorder) {
  return (uintptr_t)recorder > (uintptr_t)NOT_RECORDING;
}

/* Modules share no page, so the entry of a page never has to change between two modules; the
 * entries do have to where two modules' pages have the same one. */
static inline struct module **cache_entry(struct recorder *recorder, uintptr_t address) {
  return &recorder->cache[(address >> 12) % CACHE_SIZE];
}

/* What is known of a page whose data was touched: the module, or that it is no module's, as the
 * stack and the heap are. Only a module that appears where none was makes the latter untrue. */
static inline uintptr_t *data_cache_entry(struct recorder *recorder, uintptr_t address) {
  return &recorder->data_cache[(address >> 12) % DATA_CACHE_SIZE];
}

/* The entry of a page that is no module's: odd, which no module's address is. */
static inline uintptr_t foreign_page(uintptr_t address) { return address | 0xfff; }

/* environment.c: makes the recorder, or decides not to record; NULL: it is too early to tell. */
struct recorder *frontload_start_recorder(void);
/* environment.c: the trace's path for process `pid`. */
void frontload_expand_pattern(const struct config *config, uint32_t pid, struct text *path);

/* trace_file.c: this process's trace; NULL, and recording is over, if there can be none. */
struct session *frontload_open_session(struct recorder *recorder);
void frontload_append_event(struct session *session, const struct module *module,
                            enum frontload_record_kind kind, uintptr_t address);
void frontload_append_module(struct session *session, const struct module *module);
void frontload_count_dropped(struct session *session);

/* modules.c: false if the address belongs to no loaded module. */
bool frontload_find_object(uintptr_t address, struct object *object);
/* modules.c: true if the address belongs to none, and that can be told without a lock. */
bool frontload_is_foreign(uintptr_t address);
/* modules.c: the module for an object, new ones are entered in the trace; NULL: no room. */
struct module *frontload_find_module(struct recorder *recorder, struct session *session,
                                     const struct object *object);

/* modules.c: takes the address for no module's, until a module is found around it. */
void frontload_set_foreign(struct recorder *recorder, uintptr_t address);

/* function_start.c: of the function that has `address` inside; `address` itself if not known. */
uintptr_t frontload_function_start(const struct object *object, uintptr_t address);

/* diagnostics.c: says on stderr why the program is not recorded; `error` is a negative errno or 0.
 */
void frontload_warn(const struct config *config, const char *thing, const char *what, long error);
/* diagnostics.c: remembers which file stderr is. */
void frontload_note_stderr(struct config *config);

#endif
