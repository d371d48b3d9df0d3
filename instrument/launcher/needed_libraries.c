/* The libraries that a program needs, as the dynamic linker finds them. See needed_libraries.h. */
#define _GNU_SOURCE
#include "needed_libraries.h"

#include "base/elf_start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Whether the dynamic section names auditors (rtld-audit(7)); true also if that is unknown. */
static bool namesAuditors(int fd, const Elf64_Phdr *dynamic) {
  Elf64_Dyn entries[64];
  for (uint64_t done = 0; done < dynamic->p_filesz; done += sizeof entries) {
    uint64_t size = dynamic->p_filesz - done;
    ssize_t got = pread(fd, entries, size < sizeof entries ? size : sizeof entries,
                        (off_t)(dynamic->p_offset + done));
    for (ssize_t i = 0; i < got / (ssize_t)sizeof *entries; ++i) {
      if (entries[i].d_tag == DT_NULL)
        return false;
      if (entries[i].d_tag == DT_AUDIT || entries[i].d_tag == DT_DEPAUDIT)
        return true;
    }
    if (got < (ssize_t)sizeof *entries)
      return true;
  }
  return true;
}

/* Finds the program's dynamic linker. False if it has none, has auditors, or is not ELF. */
static bool findInterpreter(const char *program, char path[PATH_MAX]) {
  int fd = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0)
    return false;
  struct elf_start start;
  bool found = false, isSilent = false;
  unsigned segments = elf_start_read(fd, &start) == 0 ? start.segments : 0;
  for (unsigned i = 0; i < segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(&start, i, &segment);
    if (segment.p_type == PT_DYNAMIC)
      isSilent = !namesAuditors(fd, &segment);
    else if (segment.p_type == PT_INTERP && !found)
      found =
          segment.p_filesz > 1 && segment.p_filesz < PATH_MAX &&
          pread(fd, path, segment.p_filesz, (off_t)segment.p_offset) == (ssize_t)segment.p_filesz &&
          path[0] == '/' && !path[segment.p_filesz - 1];
  }
  close(fd);
  return found && isSilent;
}

/* The environment without variables for one run of the program; NULL if there is no room. */
static char **environmentOfList(void) {
  static const char *const ofOneRun[] = {"LD_AUDIT=", "LD_DEBUG=", "LD_PROFILE="};
  size_t count = 0;
  while (environ[count])
    ++count;
  char **kept = calloc(count + 1, sizeof *kept);
  for (char **from = environ, **to = kept; kept && *from; ++from) {
    bool isKept = true;
    for (size_t i = 0; i < sizeof ofOneRun / sizeof *ofOneRun; ++i)
      isKept = isKept && strncmp(*from, ofOneRun[i], strlen(ofOneRun[i])) != 0;
    if (isKept)
      *to++ = *from;
  }
  return kept;
}

/* Starts `INTERPRETER --list PROGRAM`; returns its output, or NULL. */
static FILE *startList(char *interpreter, char *program, pid_t *pid) {
  int channel[2];
  if (pipe2(channel, O_CLOEXEC) < 0)
    return NULL;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, channel[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  char list[] = "--list";
  char *arguments[] = {interpreter, list, program, NULL};
  char **environment = environmentOfList();
  int error =
      environment ? posix_spawn(pid, interpreter, &actions, NULL, arguments, environment) : ENOMEM;
  free(environment);
  posix_spawn_file_actions_destroy(&actions);
  close(channel[1]);
  FILE *output = error ? NULL : fdopen(channel[0], "r");
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
