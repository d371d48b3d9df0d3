/* The libraries that a program needs, as the dynamic linker finds them. See needed_libraries.h. */
#define _GNU_SOURCE
#include "needed_libraries.h"

#include "base/elf_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Finds the program's dynamic linker. False if it has none, or is not ELF. */
static bool findInterpreter(const char *program, char path[PATH_MAX]) {
  int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return false;
  struct elf_start start;
  bool found = false;
  unsigned segments = elf_start_read(fd, &start) == 0 ? start.segments : 0;
  for (unsigned i = 0; i < segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(&start, i, &segment);
    if (segment.p_type == PT_INTERP && !found)
      found =
          segment.p_filesz > 1 && segment.p_filesz < PATH_MAX &&
          pread(fd, path, segment.p_filesz, (off_t)segment.p_offset) == (ssize_t)segment.p_filesz &&
          path[0] == '/' && !path[segment.p_filesz - 1];
  }
  close(fd);
  return found;
}

/* Starts `INTERPRETER --list PROGRAM`; returns its output, or NULL. */
static FILE *startList(char *interpreter, char *program, pid_t *pid) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    return NULL;
  *pid = fork();
  if (*pid == 0) {
    unsetenv("LD_AUDIT");
    unsetenv("LD_DEBUG");
    unsetenv("LD_PROFILE");
    dup2(channel[1], STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
    execl(interpreter, interpreter, "--list", program, (char *)NULL);
    _exit(1);
  }
  close(channel[1]);
  FILE *output = *pid < 0 ? NULL : fdopen(channel[0], "r");
  if (!output)
    close(channel[0]);
  return output;
}

/* The path in one line of such a list, or NULL; the line is changed. The forms are
 *     NAME => PATH (0xADDRESS)      NAME => not found      PATH-OR-NAME (0xADDRESS)
 * and a name without a slash, linux-vdso.so.1, is no file. */
static char *pathIn(char *line) {
  static const char arrow[] = " => ", address[] = " (0x";
  char *path = strstr(line, arrow);
  path = path ? path + strlen(arrow) : line + strspn(line, "\t ");
  char *end = NULL;
  for (char *next = path; (next = strstr(next, address)); ++next)
    end = next;
  if (!end)
    return NULL;
  *end = '\0';
  return strchr(path, '/') ? path : NULL;
}

void forEachNeededLibrary(char *program, void (*visit)(const char *path)) {
  char interpreter[PATH_MAX];
  pid_t pid;
  if (!findInterpreter(program, interpreter))
    return;
  FILE *list = startList(interpreter, program, &pid);
  if (!list)
    return;
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, list) > 0) {
    const char *path = pathIn(line);
    if (path)
      visit(path);
  }
  free(line);
  fclose(list);
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    ;
}
