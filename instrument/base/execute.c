/* Becomes a command. See execute.h. */
#include "execute.h"

#include "system_calls.h"
#include "text.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>

enum { FIRST_BYTES = 128 };

/* Whether a file is binary, as shells decide: text has no zero in its first line. An unreadable
 * file counts as text: the shell refuses it. */
static bool is_binary(const char *path) {
  unsigned char bytes[FIRST_BYTES];
  const int file = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0)
    return false;
  const long size = sys_read(file, bytes, sizeof bytes);
  sys_close(file);
  if (size >= SELFMAG && same_bytes(bytes, (const unsigned char *)ELFMAG, SELFMAG))
    return true;
  for (long i = 0; i < size && bytes[i] != '\n'; ++i)
    if (bytes[i] == '\0')
      return true;
  return false;
}

static int execute_script(const char *path, char **command, char **environment) {
  size_t count = 0;
  while (command[count])
    ++count;
  const size_t size = (count + 2) * sizeof *command; /* with the shell and the NULL */
  const char **words = (const char **)sys_map_memory(size);
  if (is_error(words))
    return -ENOMEM;
  words[0] = "/bin/sh";
  words[1] = path;
  for (size_t i = 1; i < count; ++i)
    words[i + 1] = command[i];
  SYS(execve, words[0], words, environment);
  sys_unmap(words, size);
  return -ENOEXEC; /* a missing shell would read as a missing command */
}

static int execute_file(const char *path, char **command, char **environment) {
  const int error = (int)SYS(execve, path, command, environment);
  if (error != -ENOEXEC || is_binary(path))
    return error;
  return execute_script(path, command, environment);
}

/* Whether the command may still be in a later folder. */
static bool is_elsewhere(int error) {
  return error == -ENOENT || error == -ENOTDIR || error == -EACCES || error == -ESTALE ||
         error == -ENODEV || error == -ETIMEDOUT;
}

int execute_command(char **command, char **environment, const char *folders) {
  char path[PATH_MAX];
  int problem = -ENOENT;
  for (const char *c = *command; *c; ++c)
    if (*c == '/')
      return execute_file(*command, command, environment);
  if (!folders)
    folders = USUAL_FOLDERS;
  for (bool more = **command; more; ++folders) {
    struct text text = text_in(path, sizeof path);
    for (; *folders && *folders != ':'; ++folders)
      text_add_char(&text, *folders);
    text_add(&text, text.size ? "/" : "");
    text_add(&text, *command);
    const int error = text.overflow ? -ENOENT : execute_file(path, command, environment);
    if (!is_elsewhere(error))
      return error;
    /* A shell passes over a folder that may not be searched, as if the command were not in it. */
    struct stat status;
    if (error == -EACCES && sys_stat(path, &status) == 0)
      problem = error;
    more = *folders;
  }
  return problem;
}
