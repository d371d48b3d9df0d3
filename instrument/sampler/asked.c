/* Reads the environment. See asked.h. */
#include "asked.h"

/* By what the kernel was given at execve: nothing of libc is needed for it. */
static const char *value_of(char *const *environment, const char *name_and_equals) {
  for (; *environment; ++environment) {
    const char *value = after(*environment, name_and_equals);
    if (value)
      return value;
  }
  return NULL;
}

/* Up to `end`, or else to the end of the text. */
static bool read_number(const char **text, char end, uint32_t *found) {
  const char *c = *text;
  uint64_t number = 0;
  for (; *c && *c != end; ++c) {
    if (*c < '0' || *c > '9' || number > UINT32_MAX / 10)
      return false;
    number = number * 10 + (uint64_t)(*c - '0');
  }
  const bool is_one = c > *text && number <= UINT32_MAX;
  *text = c;
  *found = (uint32_t)number;
  return is_one;
}

static bool read_every(char *const *environment, uint32_t *every) {
  const char *text = value_of(environment, "FRONTLOAD_SAMPLE_EVERY=");
  *every = 1;
  return !text || (read_number(&text, '\0', every) && *every > 0);
}

static bool draw(uint32_t *numbers, size_t size) {
  enum { NEVER_WAIT = 1 };
  return system_call(SYS_getrandom, (long)numbers, (long)size, NEVER_WAIT, 0, 0, 0) == (long)size;
}

bool is_chosen(char *const *environment) {
  uint32_t every, chance;
  return !read_every(environment, &every) || !draw(&chance, sizeof chance) || chance % every == 0;
}

/* The number of a slice that is to be chosen by chance is its count. */
static bool read_slice(const char *text, struct slice *slice) {
  slice->count = slice->number = 1;
  if (!text)
    return true;
  if (!read_number(&text, '/', &slice->number))
    return false;
  slice->count = slice->number;
  if (*text && (++text, !read_number(&text, '\0', &slice->count) || slice->number >= slice->count))
    return false;
  return slice->count > 0 && slice->count <= MOST_SLICES;
}

static void add_program_name(struct text *pattern) {
  char path[PATH_MAX];
  const long size = sys_readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0)
    return;
  path[size] = '\0';
  const char *name = path;
  for (const char *c = path; *c; ++c)
    if (*c == '/')
      name = c + 1;
  for (; *name; ++name) {
    if (*name == '%')
      text_add_char(pattern, '%');
    text_add_char(pattern, *name);
  }
}

static const char *read_pattern(const char *value, struct text *pattern) {
  if (*value != '/')
    return "FRONTLOAD_SAMPLE is no absolute path";
  for (const char *c = value; *c; ++c) {
    if (*c != '%') {
      text_add_char(pattern, *c);
    } else if (*++c == 'm') {
      add_program_name(pattern);
    } else if (*c == 'p' || *c == '%') {
      text_add_char(pattern, '%');
      text_add_char(pattern, *c);
    } else {
      return "FRONTLOAD_SAMPLE has a % that means nothing (%p, %m and %% do)";
    }
  }
  return pattern->overflow ? "FRONTLOAD_SAMPLE is too long" : NULL;
}

bool read_asked(char *const *environment, struct asked_sample *asked, const char **problem) {
  *problem = NULL;
  const char *const value = value_of(environment, "FRONTLOAD_SAMPLE=");
  if (!value || !*value)
    return false;
  uint32_t every, chance[3];
  if (!read_every(environment, &every))
    *problem = "FRONTLOAD_SAMPLE_EVERY is no number from 1 up";
  if (!read_slice(value_of(environment, "FRONTLOAD_SAMPLE_SLICES="), &asked->slice))
    *problem =
        "FRONTLOAD_SAMPLE_SLICES is neither a number from 1 to 1000 nor a slice, such as 3/10";
  const char *const role = value_of(environment, FRONTLOAD_ROLE_VARIABLE "=");
  if (role && *role && !frontload_copy_role(asked->role, role))
    *problem = FRONTLOAD_ROLE_VARIABLE " is " FRONTLOAD_NO_ROLE;
  struct text pattern = text_in(asked->pattern, sizeof asked->pattern);
  if (!*problem)
    *problem = read_pattern(value, &pattern);
  if (!*problem && !draw(chance, sizeof chance))
    *problem = "the kernel gives no random numbers";
  if (*problem)
    return false;
  asked->run = ((uint64_t)chance[0] << 32 | chance[1]) | 1;
  if (asked->slice.number == asked->slice.count)
    asked->slice.number = chance[2] % asked->slice.count;
  return true;
}
