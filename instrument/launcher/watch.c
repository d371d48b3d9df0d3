/* See watch.h. */
#include "watch.h"

#include "base/text.h"
#include "clock.h"
#include "process_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  MAX_PROCESSES = 64,
  MAX_FILES = 8192,
  MAX_FOLDERS = 512,
  MAX_MAPS = 4 << 20,   /* bytes of /proc/PID/maps */
  MAX_PAGES = 1 << 20,  /* of a file: 4 GiB */
  MAX_OPEN = 16,        /* descriptors of a process that a sample looks at */
  MAX_READ_PAGES = 64,  /* of a file that was read: nothing says which */
  FIRST_DESCRIPTOR = 3, /* the others are no files that a start reads */
  SLOTS = 1 << 14,
};

struct process {
  pid_t pid;
  int folder, memory_file;               /* /proc/PID, and statm there */
  uint64_t size, memory, memory_at_look; /* in pages: mapped, mapped files in memory */
  bool is_visible; /* its paths are ours, and it is not the launcher any more */
};

struct watched {
  struct process processes[MAX_PROCESSES];
  size_t count;
  struct timespec begin;
  uint32_t slots[SLOTS]; /* of files by the hash of their path: index + 1 */
  char maps[MAX_MAPS];
  char *folders[MAX_FOLDERS + 1]; /* by the number of their watch, which begins at 1 */
  bool reads[MAX_FOLDERS + 1];    /* not only the folders in it are of interest */
  int events;                     /* of inotify */
  char last_folder[PATH_MAX];     /* that is watched */
  char launcher[PATH_MAX], name_space[64], root[PATH_MAX];
  char own[2][PATH_MAX]; /* the program's own folders, which may be at home */
  const char *home;
  bool takes_home;
};

static bool is_below(const char *path, const char *folder) {
  const size_t size = strlen(folder);
  return size > 1 && strncmp(path, folder, size) == 0 && (path[size] == '/' || !path[size]);
}

static bool is_home(const struct watched *inside, const char *path) {
  return is_below(path, "/home") || is_below(path, "/root") ||
         (inside->home && is_below(path, inside->home));
}

/* A program's own folder: that of its file; of bin/app, also the folder of bin, unless that is the
 * user's home. */
static void add_own_folders(struct watched *inside, const char *program, size_t first) {
  char *folder = inside->own[first];
  snprintf(folder, PATH_MAX, "%s", program);
  for (int level = 0; level < 2; ++level) {
    char *end = strrchr(folder, '/');
    if (!end)
      return;
    *end = 0;
    const char *name = strrchr(folder, '/');
    if (level == 0 && (!name || (strcmp(name, "/bin") != 0 && strcmp(name, "/libexec") != 0)))
      break;
  }
  const bool is_whole_home = !strcmp(folder, "/home") || !strcmp(folder, "/root") ||
                             (inside->home && !strcmp(folder, inside->home)) ||
                             (!strncmp(folder, "/home/", 6) && !strchr(folder + 6, '/'));
  if (is_whole_home)
    *folder = 0;
}

static bool is_private(const struct watched *inside, const char *path) {
  if (inside->takes_home || !is_home(inside, path))
    return false;
  for (size_t i = 0; i < sizeof inside->own / sizeof *inside->own; ++i)
    if (*inside->own[i] && is_below(path, inside->own[i]))
      return false;
  return true;
}

static ssize_t link_at(int folder, const char *name, char path[PATH_MAX]) {
  const ssize_t size = readlinkat(folder, name, path, PATH_MAX - 1);
  path[size < 0 ? 0 : size] = 0;
  return size;
}

static void add_process(pid_t pid, void *watch) {
  struct watched *inside = ((struct watch *)watch)->inside;
  char path[64];
  for (size_t i = 0; i < inside->count; ++i)
    if (inside->processes[i].pid == pid)
      return;
  snprintf(path, sizeof path, "/proc/%d", pid);
  const int folder = inside->count < MAX_PROCESSES ? open(path, O_DIRECTORY | O_CLOEXEC) : -1;
  if (folder >= 0)
    inside->processes[inside->count++] = (struct process){
        .pid = pid,
        .folder = folder,
        .memory_file = openat(folder, "statm", O_RDONLY | O_CLOEXEC),
    };
}

bool watch_begin(struct watch *watch, pid_t command, const char *started, const char *program,
                 bool home) {
  struct watched *inside = calloc(1, sizeof *inside);
  *watch = (struct watch){.inside = inside};
  if (!inside)
    return false;
  clock_gettime(CLOCK_REALTIME, &inside->begin);
  inside->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  inside->home = getenv("HOME");
  inside->takes_home = home;
  add_own_folders(inside, started, 0);
  add_own_folders(inside, program, 1);
  if (link_at(AT_FDCWD, "/proc/self/exe", inside->launcher) < 0 ||
      readlink("/proc/self/ns/mnt", inside->name_space, sizeof inside->name_space - 1) < 0 ||
      link_at(AT_FDCWD, "/proc/self/root", inside->root) < 0)
    return false;
  add_process(command, watch);
  return true;
}

/* The slot of a path, which may be empty. */
static uint32_t *slot_of(const struct watch *watch, const char *path) {
  for (uint64_t hash = hash_string(EMPTY_HASH, path);; ++hash) {
    uint32_t *slot = &watch->inside->slots[hash % SLOTS];
    if (!*slot || strcmp(watch->files[*slot - 1].path, path) == 0)
      return slot;
  }
}

/* A change of the inode counts as well, because packages set old times of change. */
static bool is_stable(const struct watched *inside, const struct stat *status) {
  return S_ISREG(status->st_mode) && status->st_size > 0 &&
         ns_of(&status->st_ctim) < ns_of(&inside->begin);
}

struct seen_file *watch_file(struct watch *watch, const char *path) {
  struct watched *inside = watch->inside;
  struct stat status;
  uint32_t *slot = slot_of(watch, path);
  if (*slot)
    return watch->files[*slot - 1].pages ? &watch->files[*slot - 1] : NULL;
  if (watch->count == MAX_FILES)
    return NULL;
  if (watch->count % 256 == 0) {
    void *files = realloc(watch->files, (watch->count + 256) * sizeof *watch->files);
    if (!files)
      return NULL;
    watch->files = files;
  }
  struct seen_file *file = &watch->files[watch->count];
  *file = (struct seen_file){.path = strdup(path)};
  if (!file->path)
    return NULL;
  *slot = (uint32_t)++watch->count;
  /* A file without pages is one that is left alone. */
  if (is_private(inside, path) || lstat(path, &status) != 0 || !is_stable(inside, &status))
    return NULL;
  file->size = (uint64_t)status.st_size;
  file->seconds = (uint64_t)status.st_mtim.tv_sec;
  file->nanoseconds = (uint64_t)status.st_mtim.tv_nsec;
  file->page_count = (file->size + WATCH_PAGE - 1) / WATCH_PAGE;
  if (file->page_count > MAX_PAGES)
    file->page_count = MAX_PAGES;
  file->pages = calloc(file->page_count, 1);
  return file->pages ? file : NULL;
}

static void watch_folder(struct watch *watch, const char *folder, bool reads) {
  struct watched *inside = watch->inside;
  const int number =
      inotify_add_watch(watch->inside->events, folder, IN_ACCESS | IN_ONLYDIR | IN_EXCL_UNLINK);
  if (number <= 0 || number > MAX_FOLDERS)
    return;
  inside->reads[number] |= reads;
  if (!inside->folders[number])
    inside->folders[number] = strdup(folder);
}

/* Watches the folder of a file, and the two folders above: a program that lists a folder there will
 * read in the listed folder, and Python in a subfolder. */
void watch_folder_of(struct watch *watch, const char *path) {
  char folder[PATH_MAX], *last = watch->inside->last_folder;
  snprintf(folder, sizeof folder, "%s", path);
  for (int level = 0; level < 3; ++level) {
    char *end = strrchr(folder, '/');
    if (!end || end == folder || (*end = 0, !strrchr(folder + 1, '/')) ||
        (!level && !strcmp(folder, last)))
      return;
    if (!level)
      strcpy(last, folder);
    watch_folder(watch, folder, level == 0);
  }
}

static void see_listed(struct watch *watch, char path[PATH_MAX]) {
  watch_folder(watch, path, true);
  if (strlen(path) + sizeof "/__pycache__" < PATH_MAX)
    watch_folder(watch, strcat(path, "/__pycache__"), true);
}

/* Libraries are open before they are mapped. */
static bool is_library(const char *path) {
  const char *end = strstr(path, ".so");
  return end && (!end[3] || end[3] == '.');
}

static void see_read(struct watch *watch, const char *path) {
  struct seen_file *file = is_library(path) ? NULL : watch_file(watch, path);
  if (file && !file->read) {
    file->read = true;
    watch_folder_of(watch, path);
  }
}

static void take_events(struct watch *watch) {
  _Alignas(struct inotify_event) char events[4096];
  char path[PATH_MAX];
  struct watched *inside = watch->inside;
  for (ssize_t size; (size = read(watch->inside->events, events, sizeof events)) > 0;)
    for (char *at = events; at < events + size;) {
      const struct inotify_event *event = (const struct inotify_event *)at;
      at += sizeof *event + event->len;
      if (!event->len || event->wd <= 0 || event->wd > MAX_FOLDERS || !inside->folders[event->wd] ||
          snprintf(path, sizeof path, "%s/%s", inside->folders[event->wd], event->name) >= PATH_MAX)
        continue;
      if (event->mask & IN_ISDIR)
        see_listed(watch, path);
      else if (inside->reads[event->wd])
        see_read(watch, path);
    }
}

/* Files that the process has open for reading. */
static void look_at_descriptors(struct watch *watch, const struct process *process) {
  char name[32], path[PATH_MAX];
  struct stat status;
  for (int fd = FIRST_DESCRIPTOR, holes = 0; fd < MAX_OPEN && holes < 2; ++fd) {
    snprintf(name, sizeof name, "fd/%d", fd);
    if (link_at(process->folder, name, path) < 0)
      ++holes;
    else if (*path == '/' && !*slot_of(watch, path) &&
             fstatat(process->folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
             !(status.st_mode & S_IWUSR))
      see_read(watch, path);
  }
}

/* Which files are being read, and which folders listed. */
static void watch_files(struct watch *watch) {
  const struct watched *inside = watch->inside;
  take_events(watch);
  for (size_t i = 0; i < inside->count; ++i)
    if (inside->processes[i].is_visible)
      look_at_descriptors(watch, &inside->processes[i]);
}

/* A process in another mount namespace or root folder has other files at the same paths. */
static bool is_visible(struct watch *watch, const struct process *process) {
  const struct watched *inside = watch->inside;
  char program[PATH_MAX], path[PATH_MAX];
  if (link_at(process->folder, "exe", program) <= 0 || strcmp(program, inside->launcher) == 0 ||
      link_at(process->folder, "ns/mnt", path) <= 0 || strcmp(path, inside->name_space) != 0 ||
      link_at(process->folder, "root", path) <= 0 || strcmp(path, inside->root) != 0)
    return false;
  /* It may have ended before the next look. */
  struct seen_file *file = watch_file(watch, program);
  if (file)
    file->read = true;
  return true;
}

/* False if the process has ended. */
static bool sample(struct watch *watch, struct process *process) {
  char text[128] = "";
  uint64_t size = 0;
  if (pread(process->memory_file, text, sizeof text - 1, 0) > 0)
    sscanf(text, "%" SCNu64 " %*u %" SCNu64, &size, &process->memory);
  if (size && size != process->size)
    process->is_visible = is_visible(watch, process);
  process->size = size;
  return size;
}

size_t watch_sample(struct watch *watch) {
  struct watched *inside = watch->inside;
  for (size_t i = 0; i < inside->count; ++i)
    for_each_child(inside->processes[i].pid, add_process, watch);
  watch->memory = watch->growth = 0;
  for (size_t i = inside->count; i-- > 0;) {
    struct process *process = &inside->processes[i];
    if (!sample(watch, process)) {
      close(process->folder);
      close(process->memory_file);
      *process = inside->processes[--inside->count];
    } else if (process->is_visible) {
      const uint64_t before = process->memory_at_look;
      watch->memory += process->memory;
      watch->growth +=
          process->memory > before ? process->memory - before : before - process->memory;
    }
  }
  watch_files(watch);
  return inside->count;
}

/* The kernel's struct pm_scan_arg and struct page_region, which older headers lack. */
struct scan {
  uint64_t size, flags, start, end, walk_end, regions, region_count, max_pages;
  uint64_t inverted, all_of, any_of, returned;
};
struct region {
  uint64_t start, end, categories;
};
#define SCAN _IOWR('f', 16, struct scan)
enum { PRESENT = 1 << 3, SWAPPED = 1 << 4 };
static const uint64_t PRESENT_ENTRY = UINT64_C(3) << 62; /* present or swapped, in the file */

struct mapping {
  uint64_t begin, end, offset;
};

static void see(struct seen_file *file, const struct mapping *mapping, uint64_t begin,
                uint64_t end) {
  const uint64_t first = (begin - mapping->begin + mapping->offset) / WATCH_PAGE;
  const uint64_t last = (end - mapping->begin + mapping->offset) / WATCH_PAGE;
  for (uint64_t page = first; page < last && page < file->page_count; ++page)
    file->pages[page] |= WATCH_SEEN;
}

/* Before Linux 6.7. */
static void look_at_entries(struct seen_file *file, const struct mapping *mapping, int table) {
  const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t entries[512];
  for (uint64_t at = mapping->begin; at < mapping->end;) {
    const ssize_t size = pread(table, entries, sizeof entries, (off_t)(at / page * 8));
    if (size <= 0)
      return;
    for (ssize_t i = 0; i < size / 8 && at < mapping->end; ++i, at += page)
      if (entries[i] & PRESENT_ENTRY)
        see(file, mapping, at, at + page);
  }
}

static void look_at_mapping(struct seen_file *file, const struct mapping *mapping, int table) {
  struct region regions[512];
  struct scan scan = {.size = sizeof scan,
                      .end = mapping->end,
                      .regions = (uint64_t)(uintptr_t)regions,
                      .region_count = sizeof regions / sizeof *regions,
                      .any_of = PRESENT | SWAPPED,
                      .returned = PRESENT | SWAPPED};
  for (scan.start = mapping->begin; scan.start < mapping->end; scan.start = scan.walk_end) {
    const int count = ioctl(table, SCAN, &scan);
    if (count < 0 && scan.start == mapping->begin)
      look_at_entries(file, mapping, table);
    if (count < 0 || scan.walk_end <= scan.start)
      return;
    for (int i = 0; i < count; ++i)
      see(file, mapping, regions[i].start, regions[i].end);
  }
}

/* A line: BEGIN-END PERMISSIONS OFFSET DEVICE INODE PATH. What is shared and writable changes. */
static void look_at_line(struct watch *watch, char *line, int table) {
  struct mapping mapping;
  char permissions[8];
  char *path = strchr(line, '/');
  if (!path || strncmp(path, "/dev/", 5) == 0)
    return;
  char *next = line;
  mapping.begin = strtoull(next, &next, 16);
  mapping.end = strtoull(next + (*next != 0), &next, 16);
  if (*next != ' ' || !memcpy(permissions, next + 1, 4))
    return;
  mapping.offset = strtoull(next + 6, &next, 16);
  struct seen_file *file =
      permissions[3] == 's' && permissions[1] == 'w' ? NULL : watch_file(watch, path);
  if (!file || mapping.begin >= mapping.end)
    return;
  /* Beside a font or a catalogue that is mapped are others, which are only read. */
  if (!file->mapped && !is_library(path) && permissions[2] != 'x')
    watch_folder_of(watch, path);
  file->mapped = true;
  /* Code that runs at the end (.fini), behind the last look, is the last of a library's code. */
  if (permissions[2] == 'x')
    see(file, &mapping, mapping.end - WATCH_PAGE, mapping.end);
  look_at_mapping(file, &mapping, table);
}

/* Reads maps into `inside->maps`, cut behind a line; returns the size. */
static size_t read_maps(struct watched *inside, const struct process *process) {
  const int file = openat(process->folder, "maps", O_RDONLY | O_CLOEXEC);
  size_t size = 0;
  for (ssize_t part; (part = read(file, inside->maps + size, MAX_MAPS - size)) > 0;)
    size += (size_t)part;
  close(file);
  while (size && inside->maps[size - 1] != '\n')
    --size;
  return size;
}

/* First the program, and then from the highest address on, as the kernel places the dynamic linker
 * and the libraries in the order in which they are loaded. */
static void look_at(struct watch *watch, struct process *process) {
  struct watched *inside = watch->inside;
  char program[PATH_MAX];
  const int table = openat(process->folder, "pagemap", O_RDONLY | O_CLOEXEC);
  size_t size = table < 0 ? 0 : read_maps(inside, process);
  if (size && link_at(process->folder, "exe", program) > 0)
    watch_file(watch, program);
  while (size) {
    inside->maps[--size] = 0; /* its end of line */
    while (size && inside->maps[size - 1] != '\n')
      --size;
    look_at_line(watch, inside->maps + size, table);
  }
  if (table >= 0)
    close(table);
  process->memory_at_look = process->memory;
}

void watch_look(struct watch *watch) {
  struct watched *inside = watch->inside;
  for (size_t i = 0; i < inside->count; ++i)
    if (inside->processes[i].is_visible &&
        inside->processes[i].memory != inside->processes[i].memory_at_look)
      look_at(watch, &inside->processes[i]);
}

void watch_end(struct watch *watch) {
  take_events(watch);
  close(watch->inside->events);
  for (struct seen_file *file = watch->files; file < watch->files + watch->count; ++file) {
    if (!file->pages)
      continue;
    uint64_t last = file->read && !file->mapped ? MAX_READ_PAGES : file->mapped ? 1 : 0;
    for (uint64_t page = 0; page < last && page < file->page_count; ++page)
      file->pages[page] |= WATCH_SEEN; /* of a mapped file, its loader reads the headers */
  }
}
