/* What the environment asks for: FRONTLOAD_TRACE, a pattern for the path of the trace.
 *
 * It is looked at once, at the first touch of the first process: %m and a relative path are
 * resolved then, so that a child which has changed its folder or its environment still writes where
 * the user said.
 */
#include "runtime.h"

#include "base/system_calls.h"
#include "libc.h"

#include <errno.h>

static const char *find_variable(char **environment, const char *name_and_equals) {
  size_t size = string_size(name_and_equals);
  for (; *environment; ++environment) {
    size_t i = 0;
    while (i < size && (*environment)[i] == name_and_equals[i])
      ++i;
    if (i == size)
      return *environment + size;
  }
  return NULL;
}

/* For what is expanded again later. */
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

/* Fills config->pattern from the value of FRONTLOAD_TRACE, or says why it cannot. */
static bool read_pattern(struct config *config, const char *value) {
  struct text pattern = text_in(config->pattern, PATH_CAPACITY);
  if (*value != '/' && !add_working_folder(config, &pattern)) {
    frontload_warn(config, value, "the working folder has no path", 0);
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
      frontload_warn(config, "FRONTLOAD_TRACE", config->scratch, 0);
      return false;
    }
  }
  if (pattern.overflow)
    frontload_warn(config, "FRONTLOAD_TRACE", "cannot create the trace", -ENAMETOOLONG);
  return !pattern.overflow;
}

void frontload_expand_pattern(const struct config *config, uint32_t pid, struct text *path) {
  for (const char *c = config->pattern; *c; ++c) {
    if (*c != '%')
      text_add_char(path, *c);
    else if (*++c == 'p')
      text_add_number(path, pid);
    else
      text_add_char(path, '%');
  }
}

static struct recorder *make_recorder(const char *value) {
  struct recorder *recorder = sys_map_memory(sizeof *recorder);
  if (is_error(recorder))
    return NOT_RECORDING;
  struct config *config = &recorder->config;
  frontload_note_stderr(config);
  long error = sys_advise(&recorder->session, sizeof *recorder - WIPED_OFFSET, MADV_WIPEONFORK);
  if (error < 0)
    frontload_warn(config, "madvise(MADV_WIPEONFORK)", "Linux 4.14 or newer is needed", error);
  if (error < 0 || !read_pattern(config, value)) {
    sys_unmap(recorder, sizeof *recorder);
    return NOT_RECORDING;
  }
  return recorder;
}

struct recorder *frontload_start_recorder(void) {
  if (!libc_is_ready())
    return NULL;
  const char *value = find_variable(environ, "FRONTLOAD_TRACE=");
  bool wanted = value && *value && !libc_auxiliary_value(AT_SECURE);
  struct recorder *recorder = wanted ? make_recorder(value) : NOT_RECORDING;
  struct recorder *others = NULL;
  if (__atomic_compare_exchange_n(&frontload_recorder, &others, recorder, false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_ACQUIRE))
    return recorder;
  if (is_recording(recorder))
    sys_unmap(recorder, sizeof *recorder);
  return others;
}
