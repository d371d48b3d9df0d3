/* The bytes of a trace, and what happens when they cannot be written. */
#include "trace_file.h"

#include <pub_tool_aspacemgr.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_vki.h>

#include "base/machine.h"
#include "messages.h"

/* Of the core, and in every version of it: moves a descriptor to where programs neither see nor
 * close it; maps a file where they do not see it. */
extern Int VG_(safe_fd)(Int oldfd);
extern SysRes VG_(am_shared_mmap_file_float_valgrind)(SizeT length, UInt protection, Int fd,
                                                      Off64T offset);

enum { LONGEST_PATH = 4096 };

static const HChar *pattern;
static enum { NOT_YET_OPEN, OPEN, FULL, IMPOSSIBLE } state;
static Int file = -1;
static HChar path[LONGEST_PATH];
static UInt num_modules;

void trace_set_pattern(const HChar *text) { pattern = text; }

/* The beginning of the file, which is on the disk when it is mapped: counting what was written
 * costs no system call, and cannot fail. What follows is written; if it were mapped, too, a full
 * disk would end the program. */
static struct frontload_trace_header *header;

/* The name of the trace, with room for a suffix. */
static void expand(const HChar *program) {
  const HChar *name = VG_(strrchr)(program, '/');
  name = name ? name + 1 : program;
  SizeT at = 0;
  for (const HChar *c = pattern; *c && at < sizeof path - 600; ++c) {
    if (*c != '%') {
      path[at++] = *c;
      continue;
    }
    switch (*++c) {
    case 'm':
      at += VG_(snprintf)(path + at, 512, "%s", name);
      break;
    case 'p':
      at += VG_(sprintf)(path + at, "%d", VG_(getpid)());
      break;
    default:
      path[at++] = '%';
    }
  }
  path[at] = 0;
}

/* Makes a file that was not there before: .1, .2... are appended to a name that is taken. */
static Int create(void) {
  SizeT length = VG_(strlen)(path);
  for (UInt suffix = 0;; ++suffix) {
    if (suffix)
      VG_(sprintf)(path + length, ".%u", suffix);
    SysRes made = VG_(open)(path, VKI_O_RDWR | VKI_O_CREAT | VKI_O_EXCL, 0666);
    if (!sr_isError(made))
      return VG_(safe_fd)(sr_Res(made));
    if (sr_Err(made) != VKI_EEXIST) {
      warn("%s: cannot create the trace: error %lu", path, (UWord)sr_Err(made));
      return -1;
    }
  }
}

static void append(const void *record, Int size) {
  if (VG_(write)(file, record, size) == size) {
    header->next_slot += size / FRONTLOAD_TRACE_SLOT_SIZE;
    return;
  }
  warn("%s: the trace ends here: it cannot be written", path);
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
  expand(program->path);
  file = create();
  if (file < 0) {
    state = IMPOSSIBLE;
    return;
  }
  struct frontload_trace_header first = {
      .magic = FRONTLOAD_TRACE_MAGIC,
#ifdef VG_BIGENDIAN
      .byte_order = FRONTLOAD_BIG_ENDIAN,
#else
      .byte_order = FRONTLOAD_LITTLE_ENDIAN,
#endif
      .word_size = sizeof(Addr),
      .machine = FRONTLOAD_MACHINE,
      .major = FRONTLOAD_TRACE_MAJOR,
      .minor = FRONTLOAD_TRACE_MINOR,
      .header_size = FRONTLOAD_TRACE_HEADER_SIZE,
      .slot_size = FRONTLOAD_TRACE_SLOT_SIZE,
      .recorder = FRONTLOAD_RECORDER_VALGRIND,
      .pid = VG_(getpid)(),
  };
  Bool is_made = VG_(write)(file, &first, sizeof first) == sizeof first;
  if (is_made) {
    SysRes mapped = VG_(am_shared_mmap_file_float_valgrind)(
        sizeof first, VKI_PROT_READ | VKI_PROT_WRITE, file, 0);
    is_made = !sr_isError(mapped);
    if (is_made)
      header = (struct frontload_trace_header *)sr_Res(mapped);
  }
  if (!is_made) {
    warn("%s: cannot write the trace", path);
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
  if (state == FULL)
    ++header->dropped_events;
}

void trace_mark_startup_done(void) {
  if (state == OPEN || state == FULL)
    header->startup_done = 1;
}

void trace_begin_again(void) {
  if (header)
    VG_(am_munmap_valgrind)((Addr)header, sizeof *header);
  if (file >= 0)
    VG_(close)(file);
  header = NULL;
  file = -1;
  state = NOT_YET_OPEN;
  num_modules = 0;
  for (ModuleFile *module = module_files(); module; module = module->next)
    module->number = 0;
}
