/* The declarations that the parts of the runtime share.
 *
 * The runtime lives inside another program and must never change its behaviour, so there is no
 * malloc, no lock, no stdio, no thread-local storage, no errno, no constructor that a touch has to
 * wait for, and hardly any stack (a handler's alternate stack may be small). Objects shared between
 * threads are built privately and published by one compare-and-swap; a thread that comes second
 * throws its own object away.
 *
 * Fork: all state about this process lies in memory that the kernel hands to a child zeroed
 * (MADV_WIPEONFORK). A child therefore starts again, in a file of its own, and the fast path needs
 * no check of the pid. The child has its parent's trace mapped as well, and writes to it in one
 * case: if a handler forks in the middle of a first touch, the child finishes that touch as well.
 */
#pragma once

#include "base/system_calls.h"
#include "base/text.h"
#include "format/frontload_trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PATH_CAPACITY = PATH_MAX,
  MODULE_LIMIT = 1024,
  OWN_THREADS_SIZE = 256,
  AT_ONCE_LIMIT = 16,      /* with a handler's frame each: not too much for a stack */
  PAGE_TABLE_SIZE = 16384, /* a power of two; its pages are 64 MiB */
  CHUNK_LIMIT = 1024,      /* 256 MiB of trace: 16 million first touches */
  BUILD_ID_LIMIT = 255,
};

/* An object as the dynamic linker sees it at this moment. */
struct object {
  uintptr_t bias;
  uintptr_t start;        /* run-time address of its first executable byte */
  size_t size;            /* from `start` to its last executable byte; may contain data */
  uintptr_t loaded_start; /* run-time address of the page that the first loaded byte is in */
  size_t loaded_size;     /* from `loaded_start` to its last byte, .bss included */
  const unsigned char *build_id;
  size_t build_id_size; /* 0: it has none */
  const char *name;     /* as the dynamic linker knows it: may be relative */
  bool is_main;
};

/* A touched module, between its two first-touch sets. Behind it in memory is the set of functions,
 * with one bit for each byte of its executable range. Before it, growing downwards, is the set of
 * data, with one bit for each granule of all that is loaded. Only `start` ever changes, if the
 * module is unloaded and loaded again elsewhere. */
struct module {
  uintptr_t start; /* atomic, of the executable range; NOWHERE when the module has lost its place */
  size_t size;
  size_t before; /* the loaded bytes before `start` */
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

/* The trace of one process. (Flags that are exchanged are words: RISC-V's processors exchange no
 * bytes, and its compilers call a library for it.) */
struct session {
  uint32_t full; /* atomic; a touch found no room, so no later one may take any */
  const struct config *config;
  uint64_t device, inode;
  uint64_t mapped_size;   /* at `header`; may exceed the file's size */
  uint64_t reserved_size; /* the part within the file's size, maybe without blocks; or 0 */
  bool moves;             /* see base/file_systems.h */
  struct frontload_trace_header *header;
  unsigned char *chunks[CHUNK_LIMIT]; /* atomic; the parts of the file, the first is header */
  char path[PATH_CAPACITY];
};

/* The settings at the program's start; a forked child inherits them. */
struct config {
  uint64_t stderr_device, stderr_inode; /* 0 when stderr was closed */
  uint64_t run;                         /* atomic; of the first trace (frontload_trace.h), or 0 */
  uint32_t first_pid;                   /* of the process that this was made in */
  uint32_t has_ended;                   /* atomic; on purpose, or because there can be no trace */
  uint32_t told_of_modules;       /* atomic; a module was not recorded, and a warning said so */
  char role[FRONTLOAD_ROLE_SIZE]; /* see frontload_trace.h; empty: none */
  char pattern[PATH_CAPACITY];    /* absolute; only %p and %% are left to expand */
  char scratch[PATH_CAPACITY];    /* room to work in while the rest is filled */
};

enum { WIPED_OFFSET = 65536 }; /* a multiple of any page size */

struct recorder {
  union {
    struct config config;
    char inherited[WIPED_OFFSET];
  };
  /* From here on zero in a forked child. */
  uint32_t pid;                            /* atomic; see frontload_is_own_process */
  int32_t at_once;                         /* atomic; see record_at_once */
  uint32_t own_threads[OWN_THREADS_SIZE];  /* atomic; ids that are known to be this process's */
  struct session *session;                 /* atomic */
  struct module *modules[MODULE_LIMIT];    /* atomic; filled from the front, module number - 1 */
  struct module *cache[PAGE_TABLE_SIZE];   /* atomic; see cache_entry */
  uintptr_t data_cache[PAGE_TABLE_SIZE];   /* atomic; see data_cache_entry */
  uintptr_t foreign_code[PAGE_TABLE_SIZE]; /* atomic; see foreign_code_entry */
};

/* The runtime's one variable: NULL before it has started, NOT_RECORDING, or the recorder. Hidden,
 * because it is read before relocation, too. It has its cache lines to itself: the program's writes
 * beside it would slow down every call in another thread. */
enum { CACHE_LINES = 128 }; /* two, which some processors fetch together */
union frontload_state {
  struct recorder *recorder; /* atomic */
  char alone[CACHE_LINES];
};
extern union frontload_state frontload_state
    __attribute__((visibility("hidden"), aligned(CACHE_LINES)));
#define NOT_RECORDING ((struct recorder *)1)

static inline bool is_recording(const struct recorder *recorder) {
  return (uintptr_t)recorder > (uintptr_t)NOT_RECORDING;
}

/* Modules share no page, so a page's entry only changes if pages of two modules share the entry. */
static inline struct module **cache_entry(struct recorder *recorder, uintptr_t address) {
  return &recorder->cache[(address >> 12) % PAGE_TABLE_SIZE];
}

/* The module of a page whose data was touched, or the mark that it has none, as the stack and the
 * heap. Only a module that is loaded there makes the mark untrue. */
static inline uintptr_t *data_cache_entry(struct recorder *recorder, uintptr_t address) {
  return &recorder->data_cache[(address >> 12) % PAGE_TABLE_SIZE];
}

/* The mark of a page of unrecorded code, in its own table: no module's pages push it out. */
static inline uintptr_t *foreign_code_entry(struct recorder *recorder, uintptr_t address) {
  return &recorder->foreign_code[(address >> 12) % PAGE_TABLE_SIZE];
}

/* The mark of a page without a module: odd, unlike the address of any module. */
static inline uintptr_t foreign_page(uintptr_t address) { return address | 0xfff; }

/* environment.c: makes the recorder, or decides not to record; NULL: undecided yet. */
struct recorder *frontload_start_recorder(void);

/* first_touch.c: false in a child of vfork, which runs in its parent's memory. `thread` is the
 * caller's id. If a forked child calls vfork before its first touch, its pid is not known yet: the
 * first process that comes is assumed to be this child, until another one comes that is not a child
 * of the first. */
bool frontload_is_own_process(struct recorder *recorder, uint32_t thread);

/* trace_file.c: this process's trace; NULL if there can be none, for good or for now. */
struct session *frontload_open_session(struct recorder *recorder);
void frontload_append_module(struct session *session, const struct module *module);
/* trace_file.c: returns the event in the trace, or NULL if there is no room. Handlers may interrupt
 * this, frontload_take_back and frontload_count_dropped. */
struct frontload_trace_slot *frontload_add_event(struct session *session,
                                                 const struct module *module,
                                                 enum frontload_record_kind kind, uintptr_t address,
                                                 uint32_t thread);
/* trace_file.c: removes the later of two events of one first touch. */
void frontload_take_back(struct session *session, struct frontload_trace_slot *event);
/* trace_file.c: whether a store to this place of the trace is safe; call it right before the
 * store. */
bool frontload_may_store(const struct session *session, const void *place);
void frontload_count_dropped(struct session *session);
/* trace_file.c: whether the trace need not grow for the next event. */
bool frontload_has_room(struct session *session);

/* modules.c: false if the address belongs to no loaded module. `may_wait`: it
 * is certain that the thread is not in a signal handler. */
bool frontload_find_object(uintptr_t address, struct object *object, bool may_wait);
/* modules.c: the same, but also false if the answer takes a lock. */
bool frontload_find_object_at_once(uintptr_t address, struct object *object);
/* modules.c: whether the module is the object, in the same place. */
bool frontload_is_where(const struct module *module, const struct object *object);
/* modules.c: whether an access there would not fault. */
bool frontload_is_readable(const void *address);
/* modules.c: true if the address is in no module, and that is known without a lock. */
bool frontload_is_foreign(uintptr_t address);
/* modules.c: the module for an object, new ones are entered in the trace; NULL: no room. */
struct module *frontload_find_module(struct recorder *recorder, struct session *session,
                                     const struct object *object);

/* modules.c: marks the page of the address as foreign until a module is found around it. `entry` is
 * the page's. */
void frontload_set_foreign(struct recorder *recorder, uintptr_t *entry, uintptr_t address);

/* diagnostics.c: warns on stderr; `error` is a negative errno or 0. */
void frontload_warn(const struct config *config, const char *thing, const char *what, long error,
                    const char *outcome);
#define UNRECORDED "the program runs unrecorded"
/* diagnostics.c: remembers which file stderr is. */
void frontload_note_stderr(struct config *config);
