/* The bytes of a trace, and the handling of write errors. */
#include "trace.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

#include "base/error_text.h"
#include "base/file_systems.h"
#include "base/machine.h"
#include "base/text.h"
#include "messages.h"

/* Of the core, in every version: moves a descriptor to where programs neither see nor close it;
 * maps a file where they do not see it. */
extern Int VG_(safe_fd)(Int oldfd);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection, Int fd,
                                                      Off64T offset);

enum { MAX_PATH = 4096, MAX_NAME = 512, MAX_SUFFIX = 32 };

static const HChar *pattern;
static enum { NOT_YET_OPEN, OPEN, FULL, IMPOSSIBLE } state;
static Int file = -1;
static HChar path[MAX_PATH + MAX_NAME + MAX_SUFFIX];
static UInt num_modules;
/* The time when the run of this process was begun (see frontload_trace.h); forked children have the
 * same. */
static ULong run;
static Bool is_forked, may_open = True;
static char role[FRONTLOAD_ROLE_SIZE];

void trace_begin(const HChar *text, const HChar *role_otherwise) {
  struct vki_timespec now;
  VG_(clock_gettime)(&now, VKI_CLOCK_REALTIME);
  pattern = text;
  run = (ULong)now.tv_sec * 1000000000 + now.tv_nsec;
  /* The environment at a program's start names its role, and that of its forked children. */
  const HChar *named = VG_(getenv)(FRONTLOAD_ROLE_VARIABLE);
  if (named && (!*named || frontload_copy_role(role, named)))
    return;
  if (named)
    warn("%s", FRONTLOAD_ROLE_VARIABLE ": " FRONTLOAD_NO_ROLE);
  if (role_otherwise)
    frontload_copy_role(role, role_otherwise);
}

/* The beginning of the file, which is on the disk when it is mapped: counting records costs no
 * system call. The records are written; if they were mapped, too, a full disk would end the
 * program. */
static struct frontload_trace_header *header;

/* See base/file_systems.h. */
static Bool moves;

/* Whether the header can be stored to; call this right before the store. */
static Bool can_count(void) { return !moves || can_store_to(header); }

/* `error` 0: the header cannot be stored to. */
static const HChar *reason(UWord error) {
  static HChar number[32];
  if (!error)
    return "the disk or its quota is full";
  const HChar *text = error_text(error);
  if (!text)
    VG_(sprintf)(number, "error %lu", error);
  return text ? text : number;
}

/* Creates a new file: .1, .2... are appended to a name that is taken, by a file or a link. */
static Int create(void) {
  HChar *end = path + VG_(strlen)(path);
  SysRes made;
  UInt suffix = 0;
  do {
    if (suffix)
      VG_(sprintf)(end, ".%u", suffix);
    made = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0600);
  } while (sr_isError(made) && sr_Err(made) == VKI_EEXIST &&
           ++suffix <= FRONTLOAD_TRACE_MAX_SUFFIX);
  if (!sr_isError(made))
    return VG_(safe_fd)(sr_Res(made));
  if (sr_Err(made) == VKI_EACCES)
    warn("%s: permission denied: the program runs as a user that cannot write into this folder "
         "(chmod 1777)",
         path);
  else
    warn("%s: cannot create the trace: %s", path, reason(sr_Err(made)));
  return -1;
}

/* Writes all bytes. Returns an errno, or 0. */
static UWord write_all(const void *bytes, Int size) {
  Int written = VG_(write)(file, bytes, size);
  if (written == size)
    return 0;
  return written < 0 ? -written : VKI_ENOSPC;
}

static void append(const void *record, Int size) {
  UWord error = write_all(record, size);
  if (!error && can_count()) {
    header->next_slot += size / FRONTLOAD_TRACE_SLOT_SIZE;
    return;
  }
  warn("%s: the trace ends here: %s", path, reason(error));
  state = FULL;
}

static void announce(ModuleFile *module, UInt flags) {
  module->number = ++num_modules;
  SizeT path_size = VG_(strlen)(module->path);
  SizeT text = module->build_id_size + path_size;
  ULong slots = 1 + (text + FRONTLOAD_TRACE_SLOT_SIZE - 1) / FRONTLOAD_TRACE_SLOT_SIZE;
  UChar *record = VG_(calloc)("frontload.record", slots, FRONTLOAD_TRACE_SLOT_SIZE);
  struct frontload_trace_slot *first = (struct frontload_trace_slot *)record;
  first->kind_address = (ULong)FRONTLOAD_MODULE << 56 | 1ULL << 48 |
                        (ULong)module->build_id_size << 40 | slots << 16 | path_size;
  first->module = module->number;
  first->thread = flags;
  VG_(memcpy)(record + sizeof *first, module->build_id, module->build_id_size);
  VG_(memcpy)(record + sizeof *first + module->build_id_size, module->path, path_size);
  append(record, slots * FRONTLOAD_TRACE_SLOT_SIZE);
  VG_(free)(record);
}

static void open_trace(ModuleFile *program) {
  /* A name longer than any path may be is cut, and stays longer than that. */
  struct text name = text_in(path, sizeof path - MAX_SUFFIX);
  text_add_pattern(&name, pattern, module_name(program->path), VG_(getpid)());
  file = create();
  if (file < 0) {
    state = IMPOSSIBLE;
    return;
  }
  struct frontload_trace_header first = {.forked = is_forked, .run = run};
  frontload_begin_trace(&first, FRONTLOAD_RECORDER_VALGRIND, FRONTLOAD_MACHINE, VG_(getpid)());
  VG_(memcpy)(first.magic, FRONTLOAD_TRACE_MAGIC, sizeof first.magic);
  VG_(memcpy)(first.role, role, sizeof first.role);
  Bool cannot_count = False;
  UWord error = write_all(&first, sizeof first);
  if (!error) {
    SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(
        sizeof first, VKI_PROT_READ | VKI_PROT_WRITE, file, 0);
    if (sr_isError(mapped))
      error = sr_Err(mapped);
    else
      header = (struct frontload_trace_header *)sr_Res(mapped);
    moves = moves_what_it_writes(file);
    cannot_count = header && !can_count();
  }
  if (error || cannot_count) {
    warn("%s: cannot write the trace: %s", path, reason(error));
    VG_(unlink)(path);
    state = IMPOSSIBLE;
    return;
  }
  state = OPEN;
  announce(program, FRONTLOAD_MODULE_MAIN);
}

void trace_event(enum frontload_record_kind kind, ModuleFile *program, ModuleFile *module,
                 Addr address) {
  if (state == NOT_YET_OPEN)
    open_trace(program);
  if (state == OPEN && !module->number)
    announce(module, 0);
  if (state == OPEN) {
    struct frontload_trace_slot event = {(ULong)kind << 56 | (address & FRONTLOAD_ADDRESS_MASK),
                                         module->number, VG_(gettid)()};
    append(&event, sizeof event);
  }
  if (state == FULL && can_count())
    ++header->dropped_events;
}

void trace_mark_startup_done(void) {
  if ((state == OPEN || state == FULL) && can_count())
    header->startup_done = 1;
}

void trace_open_no_more(void) { may_open = False; }

void trace_begin_again(void) {
  is_forked = True;
  if (header)
    VG_(am_munmap_valgrind)((Addr)header, sizeof *header);
  if (file >= 0)
    VG_(close)(file);
  header = NULL;
  file = -1;
  state = may_open ? NOT_YET_OPEN : IMPOSSIBLE;
  num_modules = 0;
  for (ModuleFile *module = module_files(); module; module = module->next)
    module->number = 0;
}
