/* The role of a process in a trace: the user's name for one of the kinds of process that a program
 * has, such as a browser's renderer and gpu-process.
 *
 * A role is 1 to 31 printable characters of ASCII, without spaces, so that it can be shown and
 * compared as it is. All recorders take roles from the same places and check them by this.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FRONTLOAD_ROLE_VARIABLE "FRONTLOAD_ROLE" /* of the environment */
#define FRONTLOAD_ROLE_SIZE 32                   /* with at least one zero at the end */
#define FRONTLOAD_NO_ROLE "not a role, which is 1 to 31 printable ASCII characters without spaces"

/* Copies a role, padded with zeros. False if the text is no role: `role` stays as it was. */
static inline bool frontload_copy_role(char *role, const char *text) {
  size_t size = 0;
  while (size < FRONTLOAD_ROLE_SIZE && text[size] > ' ' && text[size] <= '~')
    ++size;
  if (size == 0 || size == FRONTLOAD_ROLE_SIZE || text[size])
    return false;
  for (size_t i = 0; i < FRONTLOAD_ROLE_SIZE; ++i)
    role[i] = i < size ? text[i] : '\0';
  return true;
}
