/* Reads the memory limits of this process's cgroups. See memory_limit.h.
 *
 * Version 1 of the kernel's interface has a hierarchy of its own for memory, version 2 one for all
 * controllers. If both are mounted, memory is in version 1 if /proc lists it there. In a container,
 * /proc may give the cgroup's name outside, while the mount begins with the container's own cgroup.
 * So every folder from the cgroup up to the mount is read, and a missing folder has no limit.
 */
#include "memory_limit.h"

#include "system_calls.h"
#include "text.h"

#include <stdbool.h>

/* Text and not pointers, which would have to be relocated. */
struct interface {
  char controllers[8]; /* as /proc/self/cgroup names them */
  char folder[8];      /* in the mount */
  char limits[2][24];  /* above the first a program ends, above the second it waits */
  char usage[24];
  char unused[24]; /* a line of memory.stat */
};

static const struct interface version_1 = {.controllers = "memory",
                                           .folder = "/memory",
                                           .limits = {"/memory.limit_in_bytes"},
                                           .usage = "/memory.usage_in_bytes",
                                           .unused = "total_inactive_file "};
static const struct interface version_2 = {.limits = {"/memory.max", "/memory.high"},
                                           .usage = "/memory.current",
                                           .unused = "inactive_file "};

/* Without a limit, version 1 gives the largest number of pages. */
static const uint64_t NO_LIMIT = (uint64_t)1 << 60;

/* Bytes read of a file: enough for the wanted line of memory.stat, the largest file. */
enum { CONTENTS_SIZE = 4096 };

static bool read_contents(const char *path, char contents[CONTENTS_SIZE]) {
  const int fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  long size = sys_read(fd, contents, CONTENTS_SIZE - 1);
  sys_close(fd);
  contents[size > 0 ? size : 0] = '\0';
  return size > 0;
}

/* The beginning of the next line, NULL behind the last. */
static const char *next_line(const char *line) {
  while (*line && *line != '\n')
    ++line;
  return *line && line[1] ? line + 1 : NULL;
}

static bool parse_number(const char *text, uint64_t *number) {
  if (*text < '0' || *text > '9')
    return false; /* "max" */
  *number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    const uint64_t digit = (uint64_t)(*text - '0');
    *number = *number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *number * 10 + digit;
  }
  return true;
}

/* Reads the number behind `start`, at the beginning of a line of the file `name` of a folder. */
static bool read_number(struct text *folder, const char *name, const char *start,
                        uint64_t *number) {
  char contents[CONTENTS_SIZE];
  const size_t size = folder->size;
  text_add(folder, name);
  const char *line = read_contents(folder->start, contents) ? contents : NULL;
  text_cut(folder, size);
  for (; line; line = next_line(line)) {
    const char *value = after(line, start);
    if (value && parse_number(value, number))
      return true;
  }
  return false;
}

/* The memory that the limit of one cgroup leaves. */
static uint64_t left_in(struct text *folder, const struct interface *interface, uint64_t enough) {
  uint64_t limit = UINT64_MAX, used;
  for (unsigned i = 0; i < 2 && interface->limits[i][0]; ++i) {
    uint64_t number;
    if (read_number(folder, interface->limits[i], "", &number) && number < limit)
      limit = number;
  }
  if (limit >= NO_LIMIT || !read_number(folder, interface->usage, "", &used))
    return UINT64_MAX;
  const uint64_t left = limit > used ? limit - used : 0;
  if (left >= enough)
    return left;
  /* More than is used cannot become free. */
  uint64_t unused = 0;
  read_number(folder, "/memory.stat", interface->unused, &unused);
  return left + (unused < used ? unused : used);
}

/* Whether the list of controllers at `text`, up to a colon, contains `name`; if so, appends the
 * path behind the colon to `path`. An empty list contains the empty name. */
static bool find_controller(const char *text, const char *name, struct text *path) {
  bool is_found = false;
  do {
    const char *end = after(text, name);
    is_found |= end && (*end == ',' || *end == ':');
    while (*text && *text != ',' && *text != ':' && *text != '\n')
      ++text;
  } while (*text++ == ',');
  if (!is_found || text[-1] != ':')
    return false;
  while (*text && *text != '\n')
    text_add_char(path, *text++);
  return true;
}

/* Finds the cgroup of this process in the text of /proc/self/cgroup, of lines like
 *     4:cpu,memory:/PATH      0::/PATH
 * and appends its folder to `folder`. */
static bool find_cgroup(const char *lines, const struct interface *interface, struct text *folder) {
  for (const char *line = lines; line; line = next_line(line)) {
    while (*line >= '0' && *line <= '9')
      ++line;
    const size_t size = folder->size;
    text_add(folder, interface->folder);
    if (*line == ':' && find_controller(line + 1, interface->controllers, folder))
      return true;
    text_cut(folder, size);
  }
  return false;
}

uint64_t memory_left(const char *process_cgroups, const char *mount, uint64_t enough) {
  char contents[CONTENTS_SIZE], path[CONTENTS_SIZE];
  if (!read_contents(process_cgroups, contents))
    return UINT64_MAX;
  struct text folder = text_in(path, sizeof path);
  text_add(&folder, mount);
  const struct interface *interface = &version_1;
  if (!find_cgroup(contents, interface, &folder)) {
    interface = &version_2;
    if (!find_cgroup(contents, interface, &folder))
      return UINT64_MAX;
  }
  const size_t root = string_size(mount) + string_size(interface->folder);
  uint64_t left = UINT64_MAX;
  for (;;) {
    while (folder.size > root && path[folder.size - 1] == '/')
      text_cut(&folder, folder.size - 1);
    const uint64_t here = left_in(&folder, interface, enough);
    if (here < left)
      left = here;
    if (folder.size <= root)
      return left;
    while (folder.size > root && path[folder.size - 1] != '/')
      text_cut(&folder, folder.size - 1);
  }
}
