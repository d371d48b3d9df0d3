/* The variables FRONTLOAD_TRACE, a pattern for the path of the trace, and FRONTLOAD_ROLE.
 *
 * They are read once, by a constructor, or at the first touch of the first process if that comes
 * before (in a library's constructor). %m and a relative path are resolved then, so that a program
 * or child that has changed its folder or environment still writes where the user said.
 */
#include "runtime.h"

#include "base/system_calls.h"
#include "libc.h"
#include "signals.h"

#include <errno.h>

static const char *find_variable(const char *name_and_equals) {
  char **environment = *ADDRESS_IN_LIBC(environ);
  return environment ? value_of(environment, name_and_equals) : NULL;
}

/* For text that is expanded again later. */
static void add_doubling_percents(struct text *text, const char *string) {
  for (; *string; ++string) {
    if (*string == '%')
      text_add_char(text, '%');
    text_add_char(text, *string);
  }
}

static void add_program_name(struct config *config, struct text *text) {
  long size = sys_readlink("/proc/self/exe", config->scratch, PATH_CAPACITY - 1);
  const char *path = config->scratch;
  if (size > 0)
    config->scratch[size] = '\0';
  else
    path = (const char *)libc_auxiliary_value(AT_EXECFN); /* there is no /proc */
  const char *name = path;
  for (; *path; ++path)
    if (*path == '/')
      name = path + 1;
  add_doubling_percents(text, name);
}

static bool add_working_folder(struct config *config, struct text *text) {
  long size = sys_getcwd(config->scratch, PATH_CAPACITY);
  if (size <= 0 || config->scratch[0] != '/') /* outside of the root: "(unreachable)..." */
    return false;
  add_doubling_percents(text, config->scratch);
  text_add_char(text, '/');
  return true;
}

/* Fills config->pattern from the value of FRONTLOAD_TRACE, or warns and returns false. */
static bool read_pattern(struct config *config, const char *value) {
  struct text pattern = text_in(config->pattern, PATH_CAPACITY);
  if (*value != '/' && !add_working_folder(config, &pattern)) {
    frontload_warn(config, value, "the working folder has no path", 0, UNRECORDED);
    return false;
  }
  for (const char *c = value; *c; ++c) {
    if (*c != '%') {
      text_add_char(&pattern, *c);
    } else if (*++c == 'm') {
      add_program_name(config, &pattern);
    } else if (*c == 'p' || *c == '%') {
      text_add_char(&pattern, '%');
      text_add_char(&pattern, *c);
    } else {
      struct text what = text_in(config->scratch, PATH_CAPACITY);
      text_add_char(&what, '%');
      text_add(&what, *c ? (const char[]){*c, '\0'} : " at the end");
      text_add(&what, " means nothing (%p, %m and %% do)");
      frontload_warn(config, "FRONTLOAD_TRACE", config->scratch, 0, UNRECORDED);
      return false;
    }
  }
  if (pattern.overflow)
    frontload_warn(config, "FRONTLOAD_TRACE", "cannot create the trace", -ENAMETOOLONG, UNRECORDED);
  return !pattern.overflow;
}

/* Fills config->role, or says why it cannot. */
static bool read_role(struct config *config) {
  const char *value = find_variable(FRONTLOAD_ROLE_VARIABLE "=");
  if (!value || !*value || frontload_copy_role(config->role, value))
    return true;
  frontload_warn(config, FRONTLOAD_ROLE_VARIABLE, FRONTLOAD_NO_ROLE, 0, UNRECORDED);
  return false;
}

static struct recorder *make_recorder(const char *value) {
  struct recorder *recorder = sys_map_memory(sizeof *recorder);
  if (is_error(recorder))
    return NOT_RECORDING;
  struct config *config = &recorder->config;
  recorder->pid = config->first_pid = sys_getpid();
  frontload_note_stderr(config);
  long error = sys_advise(&recorder->pid, sizeof *recorder - WIPED_OFFSET, MADV_WIPEONFORK);
  if (error < 0)
    frontload_warn(config, "madvise(MADV_WIPEONFORK)", "Linux 4.14 or newer is needed", error,
                   UNRECORDED);
  if (error < 0 || !read_pattern(config, value) || !read_role(config)) {
    sys_unmap(recorder, sizeof *recorder);
    return NOT_RECORDING;
  }
  return recorder;
}

static struct recorder *recorder_as_asked(void) {
  const char *value = find_variable("FRONTLOAD_TRACE=");
  bool wanted = value && *value && !libc_auxiliary_value(AT_SECURE);
  return wanted ? make_recorder(value) : NOT_RECORDING;
}

/* One recorder for all copies of the runtime in libraries.
 *
 * A library with its own copy can be closed and opened again. The new copy knows nothing of the old
 * one, so each time a recorder would be left behind, and another trace begun. Therefore the first
 * such copy leaves its recorder's address in a page at a fixed place, in the middle of the
 * addresses that Linux leaves free. If that place is taken, or the machine has no such address,
 * each copy has a recorder of its own.
 *
 * A program's own copy, and the shared library, are never closed, and need no sharing. */

/* Another text, or other sizes, if copies of different versions must not share. */
static const unsigned char layout_mark[] = "frontload recorder 3";

struct shared_page {
  unsigned char mark[sizeof layout_mark];
  size_t recorder_size, session_size, module_size;
  struct recorder *recorder; /* atomic; stored last */
};

static struct shared_page *const shared_page = (struct shared_page *)0x464c54520000;

static bool is_in_program(void) {
  struct object object;
  return !frontload_find_object((uintptr_t)layout_mark, &object, true) || object.is_main;
}

static struct recorder *find_shared_recorder(void) {
  if (is_in_program() || !frontload_is_readable(shared_page) ||
      !same_bytes(shared_page->mark, layout_mark, sizeof layout_mark) ||
      shared_page->recorder_size != sizeof(struct recorder) ||
      shared_page->session_size != sizeof(struct session) ||
      shared_page->module_size != sizeof(struct module))
    return NULL;
  return __atomic_load_n(&shared_page->recorder, __ATOMIC_ACQUIRE);
}

static void share_recorder(struct recorder *recorder) {
  if (is_in_program())
    return;
  /* Fails if the place is taken. */
  void *mapping =
      sys_map_at(shared_page, sizeof *shared_page, MEMORY_OF_OUR_OWN | MAP_FIXED_NOREPLACE, -1, 0);
  if (is_error(mapping))
    return;
  if (mapping != shared_page) { /* before Linux 4.17 the place is only a hint */
    sys_unmap(mapping, sizeof *shared_page);
    return;
  }
  copy_bytes(shared_page->mark, layout_mark, sizeof layout_mark);
  shared_page->recorder_size = sizeof(struct recorder);
  shared_page->session_size = sizeof(struct session);
  shared_page->module_size = sizeof(struct module);
  __atomic_store_n(&shared_page->recorder, recorder, __ATOMIC_RELEASE);
}

static struct recorder *start(void) {
  struct recorder *const shared = find_shared_recorder();
  struct recorder *const recorder = shared ? shared : recorder_as_asked();
  struct recorder *others = NULL;
  const bool is_first = __atomic_compare_exchange_n(&frontload_state.recorder, &others, recorder,
                                                    false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (is_recording(recorder) && !shared) {
    if (is_first)
      share_recorder(recorder);
    else
      sys_unmap(recorder, sizeof *recorder);
  }
  return is_first ? recorder : others;
}

/* In a static program, libc calls the program's malloc while it sets up the state that the runtime
 * needs. A dynamic linker has set that up before any code of the program runs. */
static bool is_static(void) {
  const ElfW(Phdr) *headers = (const ElfW(Phdr) *)libc_auxiliary_value(AT_PHDR);
  for (size_t i = 0; i < libc_auxiliary_value(AT_PHNUM); ++i)
    if (headers[i].p_type == PT_INTERP)
      return false;
  return true;
}

struct recorder *frontload_start_recorder(void) {
  return libc_is_ready() && !is_static() && may_name_files() ? start() : NULL;
}

/* Runs before main(), which may clear the environment, and before all other constructors of a
 * static program. libc is ready here, so a missing environment was cleared. */
static __attribute__((constructor(1))) void start_at_once(void) {
  const signal_set before = begin_undisturbed();
  if (!__atomic_load_n(&frontload_state.recorder, __ATOMIC_ACQUIRE) && may_name_files())
    start();
  end_undisturbed(before);
}
