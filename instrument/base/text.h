/* Text in buffers of fixed size, for paths and messages.
 *
 * This must not call malloc or libc's string functions (see system_calls.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A buffer being filled. Its text is always zero-terminated. Text that does not fit is cut, which
 * sets `overflow`. */
struct text {
  char *start;
  size_t size;
  size_t capacity;
  bool overflow;
};

/* Goes on with the FNV-1a hash of a string, which begins with this value. */
#define EMPTY_HASH UINT64_C(0xcbf29ce484222325)

static inline uint64_t hash_string(uint64_t hash, const char *string) {
  for (; *string; ++string)
    hash = (hash ^ (unsigned char)*string) * UINT64_C(0x100000001b3);
  return hash;
}

static inline struct text text_in(char *buffer, size_t capacity) {
  buffer[0] = '\0';
  const struct text empty = {buffer, 0, capacity, false};
  return empty;
}

static inline void text_cut(struct text *text, size_t size) {
  text->size = size;
  text->start[size] = '\0';
}

static inline void text_add_char(struct text *text, char c) {
  if (text->size + 1 >= text->capacity) {
    text->overflow = true;
    return;
  }
  text->start[text->size] = c;
  text_cut(text, text->size + 1);
}

static inline void text_add(struct text *text, const char *string) {
  while (*string)
    text_add_char(text, *string++);
}

static inline void text_add_number(struct text *text, uint32_t number) {
  uint32_t power = 1;
  while (number / power >= 10)
    power *= 10;
  for (; power > 0; power /= 10)
    text_add_char(text, (char)('0' + number / power % 10));
}

/* Appends a path pattern of one process: %m is its program's name, %p its number, and % with any
 * other letter a percent sign. */
static inline void text_add_pattern(struct text *path, const char *pattern, const char *name,
                                    uint32_t pid) {
  for (const char *c = pattern; *c; ++c) {
    if (*c != '%')
      text_add_char(path, *c);
    else if (*++c == 'm')
      text_add(path, name);
    else if (*c == 'p')
      text_add_number(path, pid);
    else
      text_add_char(path, '%');
  }
}

static inline size_t string_size(const char *string) {
  size_t size = 0;
  while (string[size])
    ++size;
  return size;
}

/* The part of `string` behind `start`, or NULL if `string` does not begin with `start`. */
static inline const char *after(const char *string, const char *start) {
  for (; *start; ++start, ++string)
    if (*string != *start)
      return NULL;
  return string;
}

/* The value of a variable, named with the equals sign; NULL: there is none. */
static inline const char *value_of(char *const *environment, const char *name_and_equals) {
  const char *value = NULL;
  for (; *environment && !value; ++environment)
    value = after(*environment, name_and_equals);
  return value;
}

static inline bool same_string(const char *a, const char *b) {
  while (*a && *a == *b)
    ++a, ++b;
  return *a == *b;
}

static inline bool same_bytes(const unsigned char *a, const unsigned char *b, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (a[i] != b[i])
      return false;
  return true;
}

static inline void copy_bytes(unsigned char *to, const unsigned char *from, size_t size) {
  for (size_t i = 0; i < size; ++i)
    to[i] = from[i];
}
