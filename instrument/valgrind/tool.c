/* A tool of Valgrind that records the first touches of a program's code and data, as they happen,
 * into a trace for each process.
 *
 * It is a program of its own, as all of Valgrind's tools are: linked with Valgrind's core, whose
 * license, GPL-2.0-or-later, covers the linked tool. Nothing else of Frontload is in it.
 *
 * Its options are those of frontload-valgrind, which starts it (main.cpp) and has checked them.
 */
#include <pub_tool_aspacemgr.h>
#include <pub_tool_basics.h>
#include <pub_tool_clientstate.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcfile.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_mallocfree.h>
#include <pub_tool_options.h>
#include <pub_tool_tooliface.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>
#include <pub_tool_xarray.h>

#include "checks.h"
#include "messages.h"
#include "module_file.h"
#include "touches.h"
#include "trace.h"

enum { MAX_STARTED = 8, SECCOMP_SET_MODE_FILTER = 1 };

static const HChar *output, *role, *until;
static const HChar *symbols; /* BUILD-ID:PATH, the debug file of the command, if it is stripped */
static Int milliseconds;

/* A name of --module: an absolute path, or a file name or soname. */
typedef struct Wanted {
  const HChar *name;
  Bool was_seen;
  struct Wanted *next;
} Wanted;
static Wanted *wanted, **last_wanted = &wanted;
/* Code was mapped from a file without a name: there is no /proc, as in another root folder. */
static Bool was_file_unknown;

/* The files that the kernel has mapped: the program and its loader, and this tool, if Valgrind lets
 * the program see a page of it. */
typedef struct {
  ModuleFile *file;
  Addr bias;
} Started;
static Started started[MAX_STARTED];
static UInt num_started;
static Bool has_begun;
static Int first_process;
static const HChar *program_path; /* NULL if it is unknown */

/* Code whose accesses are not the program's: the loader, or the function that relocates a static
 * PIE. */
static Addr loader_begin, loader_end;
/* The function that ends startup; 0 if unknown. */
static Addr end_of_startup;
static Bool was_end_found;

static Bool read_option(const HChar *option) {
  const HChar *name;
  if VG_STR_CLO (option, "--module", name) {
    Wanted *w = *last_wanted = VG_(calloc)("frontload.wanted", 1, sizeof *w);
    w->name = name;
    last_wanted = &w->next;
    return True;
  }
  return VG_STR_CLO(option, "--output", output) || VG_STR_CLO(option, "--role", role) ||
         VG_STR_CLO(option, "--until", until) || VG_STR_CLO(option, "--symbols", symbols) ||
         VG_INT_CLO(option, "--for-milliseconds", milliseconds) ||
         VG_STR_CLO(option, "--self", name); /* for find_program */
}

/* frontload-valgrind --help prints them. */
static void print_no_options(void) {}

/* Whether a file has this name, up to a dot: libfoo and libfoo.so also name libfoo.so.1. */
static Bool begins_with(const HChar *file, const HChar *name) {
  SizeT length = VG_(strlen)(name);
  return file && VG_STREQN(length, file, name) && (file[length] == 0 || file[length] == '.');
}

static Bool is_named(const ModuleFile *file, const Wanted *w) {
  if (*w->name != '/')
    return begins_with(module_name(file->path), w->name) || begins_with(file->soname, w->name);
  struct vg_stat named, mapped;
  return !sr_isError(VG_(stat)(w->name, &named)) && !sr_isError(VG_(stat)(file->path, &mapped)) &&
         named.dev == mapped.dev && named.ino == mapped.ino;
}

/* Whether --module names the file; notes that the name was seen. */
static Bool is_wanted(const ModuleFile *file) {
  Bool result = False;
  for (Wanted *w = wanted; w; w = w->next)
    if (is_named(file, w))
      result = w->was_seen = True;
  return result;
}

/* The file that has the symbols of a module. */
static const HChar *symbol_file(const ModuleFile *file) {
  HChar id[2 * MAX_BUILD_ID + 1] = "";
  for (UInt i = 0; i < file->build_id_size; ++i)
    VG_(sprintf)(id + 2 * i, "%02x", file->build_id[i]);
  SizeT length = VG_(strlen)(id);
  Bool is_debugged = symbols && length && VG_STREQN(length, symbols, id) && symbols[length] == ':';
  return is_debugged ? symbols + length + 1 : file->path;
}

static void record(ModuleFile *file, Addr bias, Bool is_program) {
  touches_add(file, bias, is_program);
  Addr address;
  ULong size;
  if (until && !end_of_startup && module_function(symbol_file(file), until, &address, &size)) {
    end_of_startup = bias + address;
    was_end_found = True;
  }
}

/* Called when all files that the kernel has mapped are known, and nothing has run. */
static void begin(void) {
  has_begun = True;
  const Started *program = NULL;
  for (UInt i = 0; i < num_started; ++i)
    if (!program || started[i].file->interpreter)
      program = &started[i];
  if (!program)
    return;
  const HChar *interpreter = program->file->interpreter;
  const ModuleFile *loader = interpreter ? module_file(interpreter) : NULL;
  for (UInt i = 0; i < num_started; ++i) {
    const Started *s = &started[i];
    if (s->file != loader)
      continue;
    loader_begin = s->bias + s->file->begin;
    loader_end = s->bias + s->file->end;
    if (is_wanted(s->file))
      record(s->file, s->bias, False);
  }
  Addr address;
  ULong size;
  /* Where glibc's startup code relocates a static PIE. */
  if (!interpreter && program->file->is_position_independent &&
      module_function(symbol_file(program->file), "_dl_relocate_static_pie", &address, &size)) {
    loader_begin = program->bias + address;
    loader_end = loader_begin + size;
  }
  record(program->file, program->bias, True);
  program_path = program->file->path;
}

/* The file whose code is mapped at an address, and its load bias; NULL if there is none. */
static ModuleFile *file_at(Addr address, Addr *bias) {
  const NSegment *segment = VG_(am_find_nsegment)(address);
  if (!segment || segment->kind != SkFileC)
    return NULL;
  const HChar *name = VG_(am_get_filename)(segment);
  ModuleFile *file = name ? module_file(name) : NULL;
  was_file_unknown |= !name;
  ULong offset = segment->offset + (address - segment->start);
  return file && module_bias(file, offset, address, bias) ? file : NULL;
}

static void mapped_at_start(Addr address, SizeT size, Bool reads, Bool writes, Bool executes,
                            ULong handle) {
  Addr bias;
  ModuleFile *file = executes ? file_at(address, &bias) : NULL;
  if (file && num_started < MAX_STARTED)
    started[num_started++] = (Started){file, bias};
}

static void mapped(Addr address, SizeT size, Bool reads, Bool writes, Bool executes, ULong handle) {
  if (!has_begun)
    begin();
  Addr bias;
  /* Without --module, no file is read. */
  ModuleFile *file = executes && wanted ? file_at(address, &bias) : NULL;
  if (file && is_wanted(file))
    record(file, bias, False);
}

static CodeKind kind_of(Addr address) {
  CodeKind kind;
  kind.is_recorded = touches_has(address);
  kind.is_loader = address >= loader_begin && address < loader_end;
  kind.is_end = end_of_startup && address == end_of_startup;
  return kind;
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                        const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
                        IRType host_word) {
  if (!has_begun)
    begin();
  if (touches_has_ended())
    return in;
  return add_checks(in, layout, kind_of);
}

/* Whether the program has filtered its system calls, and whether that was reported. */
static Bool is_filtered, was_filter_told;

static void before_call(ThreadId thread, UInt number, UWord *arguments, UInt count) {}

/* A filter may kill a process that opens a file, and cannot be asked beforehand. */
static void after_call(ThreadId thread, UInt number, UWord *arguments, UInt count, SysRes result) {
  Bool is_filter = (number == __NR_prctl && arguments[0] == VKI_PR_SET_SECCOMP) ||
                   (number == __NR_seccomp && arguments[0] <= SECCOMP_SET_MODE_FILTER);
  if (sr_isError(result) || !is_filter)
    return;
  is_filtered = True;
  trace_open_no_more();
}

static void before_fork(ThreadId thread) {
  if (!is_filtered || was_filter_told || touches_has_ended())
    return;
  was_filter_told = True;
  warn("%s", "processes are not recorded that the program forks after it has filtered its system "
             "calls (seccomp)");
}

static void forked(ThreadId thread) { touches_begin_again(); }

static void after_options(void) {
  messages_leave_standard_error();
  first_process = VG_(getpid)();
  if (!output || !touches_begin()) {
    warn("%s", "there is no room for what was touched: nothing is recorded");
    VG_(exit)(125);
  }
  trace_begin(output, role);
  touches_end_after(milliseconds);
  VG_(atfork)(before_fork, NULL, forked);
}

static void at_end(Int status) {
  if (VG_(getpid)() != first_process)
    return;
  for (const Wanted *w = wanted; w; w = w->next)
    if (!w->was_seen)
      warn("--module=%s: %s", w->name,
           was_file_unknown ? "not seen: code was mapped without /proc, which tells from which file"
                            : "the program did not load it");
  if (until && !was_end_found)
    warn("--until=%s: no recorded module has a function of this name", until);
  else if (until && !touches_has_ended())
    warn("--until=%s: the program ended before it was called", until);
}

static void before_options(void) {
  VG_(details_name)("Frontload");
  VG_(details_version)(NULL);
  VG_(details_description)("a recorder of first touches");
  VG_(details_copyright_author)("The Frontload developers; GPL-2.0-or-later as linked");
  VG_(details_bug_reports_to)("the Frontload developers");
  VG_(basic_tool_funcs)(after_options, instrument, at_end);
  VG_(needs_command_line_options)(read_option, print_no_options, print_no_options);
  VG_(needs_syscall_wrapper)(before_call, after_call);
  VG_(track_new_mem_startup)(mapped_at_start);
  VG_(track_new_mem_mmap)(mapped);
  VG_(track_die_mem_munmap)(touches_remove);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)

/* Replaces the core's function: nothing here needs debug info, which takes long to read, and
 * Valgrind ends a program whose debug info it does not understand. (Linked with --wrap.) */
ULong wrap_debug_info(Addr address, Bool allow_file_of_valgrind,
                      Int descriptor) __asm__("__wrap_vgPlain_di_notify_mmap");
ULong wrap_debug_info(Addr address, Bool allow_file_of_valgrind, Int descriptor) { return 0; }

/* The option by which a process that executes itself tells the next one its program. */
static const HChar own_program[] = "/proc/self/exe", self_option[] = "--self=";

static void remember_program(void) {
  HChar *option = VG_(malloc)("frontload.self", sizeof self_option + VG_(strlen)(program_path));
  VG_(sprintf)(option, "%s%s", self_option, program_path);
  VG_(addToXA)(VG_(args_for_valgrind), &option);
}

/* Replaces the core's function: a program that Valgrind cannot run, of another machine or with
 * another user's rights, is executed outside of Valgrind, and not recorded. */
Bool real_traces_child(const HChar *name, const HChar **arguments) __asm__(
    "__real_vgPlain_should_we_trace_this_child");
Bool wrap_traces_child(const HChar *name, const HChar **arguments) __asm__(
    "__wrap_vgPlain_should_we_trace_this_child");
Bool wrap_traces_child(const HChar *name, const HChar **arguments) {
  if (VG_STREQ(name, own_program) && program_path)
    remember_program();
  return real_traces_child(name, arguments) && module_can_run(name);
}

/* Replaces the core's function: of a program that executes /proc/self/exe, that is Valgrind. */
const HChar *real_find_program(const HChar *name) __asm__("__real_vgPlain_find_executable");
const HChar *wrap_find_program(const HChar *name) __asm__("__wrap_vgPlain_find_executable");
const HChar *wrap_find_program(const HChar *name) {
  XArray *options = VG_(args_for_valgrind);
  for (Word i = VG_(sizeXA)(options); VG_STREQ(name, own_program) && i-- > 0;) {
    const HChar *option = *(const HChar **)VG_(indexXA)(options, i);
    if (VG_(strncmp)(option, self_option, sizeof self_option - 1) == 0)
      name = option + sizeof self_option - 1;
  }
  return real_find_program(name);
}
