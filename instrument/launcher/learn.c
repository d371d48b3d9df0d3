/* See learn.h. */
#include "learn.h"

#include "base/elf_start.h"
#include "base/notes.h"
#include "clock.h"
#include "known_starts.h"
#include "prefetch/apart.h"
#include "prefetch/prefetch_list.h"
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MAX_LIST = 512 << 10, /* bytes of a list */
  MAX_LISTS = 128,      /* so all lists have at most 64 MiB */
  TOUCHED = 2,          /* weights: see learn.h */
  MAX_WEIGHT = 8,
  PROBES = 8,
  STALE_SECONDS = 60, /* after this time, a writer is taken for dead */
  READ_AHEAD = 32,    /* pages that the kernel reads for a page fault, by default */
};
#define MAX_PAUSE_NS (999 * NS_PER_MS)
/* After this time without anything new, a start is over. */
#define QUIET_NS (2000 * NS_PER_MS)
#define MAX_NS (60000 * NS_PER_MS)

struct learner {
  const struct start *start;
  struct known_starts kinds;
  struct faults looked_at; /* at the last look that saw all */
  bool has_all;            /* after that was at most one page fault in 128 */
  unsigned looks;
  uint64_t seen, fresh, listed; /* pages: of this start, of it alone, of the new list */
  unsigned starts;
};

static int64_t own_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return ns_of(&time);
}
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Watches until the end of the start. The pauses between samples grow with its age, and a look is
 * due when the mapped pages have become an eighth more. */
static void watch_start(struct learner *learner, struct watch *watch) {
  const int64_t begin = now_ns();
  int64_t now = begin, grown = begin;
  struct known_starts *kinds = &learner->kinds;
  struct pollfd end = {(int)SYS(pidfd_open, learner->start->command, 0), POLLIN, 0};
  uint64_t memory = 0;
  for (bool is_over = false; !is_over && now - begin < MAX_NS; now = now_ns()) {
    const int64_t pause = least(NS_PER_MS + (now - begin) / 16, MAX_PAUSE_NS);
    if (ppoll(&end, 1, &(struct timespec){.tv_nsec = pause}, NULL) > 0) {
      end.fd = -1;
      known_starts_count(kinds);
    }
    if (!watch_sample(watch))
      break;
    if (watch->memory != memory)
      grown = now_ns();
    memory = watch->memory;
    is_over = now_ns() - grown > QUIET_NS && !known_starts_count(kinds);
    if (watch->growth && (is_over || watch->growth * 8 >= memory)) {
      known_starts_count(kinds);
      watch_look(watch);
      ++learner->looks;
      if (poll(&end, 1, 0) == 0) /* a process that ends meanwhile shows a part */
        learner->looked_at = kinds->faults;
    }
  }
  if (end.fd >= 0)
    known_starts_count(kinds);
  const uint64_t faults = kinds->faults.minor, before = learner->looked_at.minor;
  learner->has_all = before && faults >= before && faults - before <= faults / 128;
}

/* Digits of an ELF file's build-id, or "-"; allocated. */
static char *build_id_of(const char *path) {
  struct elf_start start;
  char *text = NULL;
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  const unsigned segments = fd >= 0 && elf_start_read(fd, &start) == 0 ? start.segments : 0;
  if (fd >= 0)
    close(fd);
  for (unsigned i = 0; i < segments && !text; ++i) {
    Elf64_Phdr segment;
    struct note id;
    elf_start_segment(&start, i, &segment);
    if (segment.p_type != PT_NOTE || segment.p_offset > start.size ||
        segment.p_filesz > start.size - segment.p_offset)
      continue;
    const struct notes notes = {start.bytes + segment.p_offset, segment.p_filesz,
                                note_alignment(segment.p_align)};
    if (find_build_id(notes, 64, &id) && (text = calloc(2 * id.descriptor_size + 1, 1)))
      for (size_t byte = 0; byte < id.descriptor_size; ++byte)
        sprintf(text + 2 * byte, "%02x", id.descriptor[byte]);
  }
  return text ? text : strdup("-");
}

/* A file of the old list, or NULL if the file has changed since. */
static struct seen_file *known_file(struct watch *watch, const struct listed *listed) {
  struct seen_file *file = watch_file(watch, listed->path);
  if (!file)
    return NULL;
  const size_t size = listed->build_id_size;
  const bool is_same_time = file->size == listed->size && file->seconds == listed->seconds &&
                            file->nanoseconds == listed->nanoseconds;
  if (!file->build_id)
    file->build_id = is_same_time ? strndup(listed->build_id, size) : build_id_of(file->path);
  const bool is_same =
      is_same_time || (file->size == listed->size && file->build_id && *listed->build_id != '-' &&
                       !strncmp(file->build_id, listed->build_id, size) && !file->build_id[size]);
  return is_same ? file : NULL;
}

/* Adds the old weights to what was seen, or only `watches` the folders of files that were read. */
static void take_old(struct learner *learner, struct watch *watch, bool watches) {
  struct line all, rest, line;
  if (read_list(learner->start->list->path, &all) != 0)
    return;
  rest = all.end - all.begin > MAX_LIST ? (struct line){all.end, all.end} : all;
  struct seen_file *file = NULL;
  struct listed listed = {.size = 0}; /* a damaged list may begin with a range */
  struct range range;
  uint64_t rank, weight;
  while (next_line(&line, &rest)) {
    if (starts_with(&line, "runs ")) {
      line.begin += sizeof "runs " - 1;
      if (take_number(&line, &weight))
        learner->starts = weight < 999999999 ? (unsigned)weight : 999999999;
    } else if (starts_with(&line, "file\t")) {
      listed.size = 0;
      file = !parse_file(line, &listed) ? NULL : watches ? NULL : known_file(watch, &listed);
    } else if (is_range(&line) && listed.size) {
      if (!parse_range(&line, &listed, 0, &range) || !take_number(&line, &rank) ||
          !take_char(&line, '\t') || !take_number(&line, &weight))
        continue;
      if (watches && starts_with(&line, "\tread"))
        watch_folder_of(watch, listed.path);
      for (uint64_t page = range.begin / WATCH_PAGE;
           file && page < (range.end + WATCH_PAGE - 1) / WATCH_PAGE && page < file->page_count;
           ++page)
        file->pages[page] = (uint8_t)((file->pages[page] & WATCH_SEEN) |
                                      (weight < MAX_WEIGHT ? weight : MAX_WEIGHT));
      if (file && !file->mapped)
        *(starts_with(&line, "\tread") ? &file->read : &file->mapped) = true;
    }
  }
  SYS(munmap, all.begin, all.end - all.begin + 1);
}

/* Takes a file's pages that are in the page cache, but were neither seen nor listed nor read along
 * in a gap of the list, for seen; unless more than `max` of them were not read around seen ones:
 * these are of another program. */
static void take_cached_of(struct learner *learner, struct seen_file *file, uint64_t max) {
  const struct device_kind *device = learner->start->device;
  const int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  unsigned char *cached = calloc(file->page_count, 1);
  uint64_t far = 0;
  struct stat status;
  struct look look;
  begin_look(&look, fd);
  if (cached && fstat(fd, &status) == 0) {
    if (!device)
      device = device_kind_of(fd, &status);
    const uint64_t gap = learner->starts ? device->max_gap / WATCH_PAGE : 0;
    const uint64_t around = learner->starts ? 0 : READ_AHEAD;
    for (uint64_t page = 0, end; page < file->page_count; page = end + 1) {
      for (end = page; end < file->page_count && !file->pages[end];)
        ++end;
      if (end - page > gap &&
          residency_of_range(&look, page * WATCH_PAGE, (end - page) * WATCH_PAGE, cached + page))
        for (uint64_t each = page + around; each + around < end; ++each)
          far += cached[each] & 1;
    }
    for (uint64_t page = 0; far <= max && page < file->page_count; ++page)
      if (cached[page] & 1)
        file->pages[page] |= WATCH_SEEN;
  }
  end_look(&look);
  free(cached);
  close(fd);
}

/* The page cache outlives a process: it has the pages that were touched after the last look. Other
 * pages there were read around touched ones, and leave the list again. The kernel answers only for
 * files of this user. */
static void take_cached(struct learner *learner, struct watch *watch) {
  const struct faults *end = &learner->kinds.faults, *look = &learner->looked_at;
  const uint64_t late = end->minor ? end->major - look->major : look->major;
  const bool is_told = late && late < MAX_LIST && sysconf(_SC_PAGESIZE) == WATCH_PAGE;
  for (struct seen_file *file = watch->files; file < watch->files + watch->count; ++file)
    if (is_told && file->pages && file->mapped)
      take_cached_of(learner, file, late * READ_AHEAD);
}

/* Makes new weights of old ones. */
static void weigh(struct learner *learner, struct watch *watch) {
  for (struct seen_file *file = watch->files; file < watch->files + watch->count; ++file)
    for (uint64_t page = 0; file->pages && page < file->page_count; ++page) {
      const uint8_t old = file->pages[page] & (uint8_t)~WATCH_SEEN;
      if (file->pages[page] & WATCH_SEEN) {
        file->pages[page] = old + TOUCHED < MAX_WEIGHT ? old + TOUCHED : MAX_WEIGHT;
        ++learner->seen;
        learner->fresh += !old;
      } else if (old && learner->has_all)
        file->pages[page] = old - 1;
    }
}

/* A path with the escapes of a list. */
static void write_path(FILE *to, const char *path) {
  for (; *path; ++path)
    if (*path == '\\' || *path == '\t' || *path == '\n')
      fprintf(to, "\\%c", *path == '\t' ? 't' : *path == '\n' ? 'n' : '\\');
    else if ((unsigned char)*path < ' ' || *path == 0x7f)
      fprintf(to, "\\x%02x", (unsigned char)*path);
    else
      putc(*path, to);
}

/* Writes the pages of at least this weight. */
static void write_pages(struct learner *learner, struct watch *watch, uint8_t min_weight,
                        FILE *to) {
  uint64_t rank = 0, all = 0;
  for (struct seen_file *file = watch->files; file < watch->files + watch->count; ++file)
    for (uint64_t page = 0; file->pages && page < file->page_count; ++page)
      all += file->pages[page] >= min_weight;
  /* The list served a start that touched few other pages. */
  const struct faults *faults = &learner->kinds.faults;
  known_starts_write(&learner->kinds,
                     learner->looks && learner->fresh * 32 <= learner->seen &&
                         faults->major * 64 <= faults->minor,
                     to);
  fprintf(to, "runs %u\n", learner->starts + 1);
  /* Evenly: of `all` pages, those with the odd multiples of all / 16 before them. */
  unsigned probe = 0;
  for (struct seen_file *file = watch->files; file < watch->files + watch->count; ++file)
    for (uint64_t page = 0; file->pages && page < file->page_count; ++page)
      if (file->pages[page] >= min_weight && rank++ >= (2 * probe + 1) * all / (2 * PROBES) &&
          probe < PROBES) {
        ++probe;
        fprintf(to, "probe %" PRIu64 " ", page * WATCH_PAGE);
        write_path(to, file->path);
        putc('\n', to);
      }
  rank = 0;
  for (struct seen_file *file = watch->files; file < watch->files + watch->count; ++file) {
    bool is_begun = false;
    for (uint64_t page = 0, end; file->pages && page < file->page_count; page = end) {
      const uint8_t weight = file->pages[page];
      for (end = page + 1; end < file->page_count && file->pages[end] == weight;)
        ++end;
      if (weight < min_weight)
        continue;
      if (!is_begun) {
        if (!file->build_id)
          file->build_id = build_id_of(file->path);
        fputs("file\t", to);
        write_path(to, file->path);
        fprintf(to, "\t%" PRIu64 "\t%" PRIu64 ".%09" PRIu64 "\t%s\n", file->size, file->seconds,
                file->nanoseconds, file->build_id ? file->build_id : "-");
        is_begun = true;
      }
      const uint64_t last = end * WATCH_PAGE < file->size ? end * WATCH_PAGE : file->size;
      fprintf(to, "\t%" PRIu64 "+%" PRIu64 "\t%" PRIu64 "\t%u\t%s\n", page * WATCH_PAGE,
              last - page * WATCH_PAGE, rank, weight, file->mapped || !file->read ? "map" : "read");
      rank += end - page;
    }
  }
  learner->listed = all;
}

static bool is_list(const char *name) {
  const char *end = strrchr(name, '.');
  return end && end > name && (!strcmp(end, ".files") || !strcmp(end, ".new"));
}

/* The folder of lists, in memory that the next call overwrites. */
static char *folder_of(const struct learnt_list *list) {
  static char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", (int)list->folder, list->path);
  return folder;
}

/* Deletes the oldest lists of a folder until at most `max` are left. */
static void keep_newest(const char *folder, size_t max) {
  for (bool is_done = false; !is_done;) {
    char oldest[256] = "";
    int64_t oldest_ns = INT64_MAX;
    size_t count = 0;
    DIR *names = opendir(folder);
    if (!names)
      return;
    for (struct dirent *entry; (entry = readdir(names));) {
      struct stat status;
      if (!is_list(entry->d_name) ||
          fstatat(dirfd(names), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      ++count;
      if (ns_of(&status.st_mtim) < oldest_ns) {
        snprintf(oldest, sizeof oldest, "%s", entry->d_name);
        oldest_ns = ns_of(&status.st_mtim);
      }
    }
    is_done = count <= max || unlinkat(dirfd(names), oldest, 0) != 0;
    closedir(names);
  }
}

/* The file beside the list that becomes the list, which only one writer at a time can make. */
static int open_new(const char *path) {
  for (int attempt = 0;; ++attempt) {
    struct stat status;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 || errno != EEXIST || attempt || stat(path, &status) != 0 ||
        time(NULL) - status.st_mtime < STALE_SECONDS)
      return fd;
    unlink(path);
  }
}

/* Merges what was seen with the old list, and replaces that. Returns 0 or an errno. */
static int write_list(struct learner *learner, struct watch *watch) {
  char path[PATH_MAX + 4], *text = NULL;
  size_t size = 0;
  struct stat status;
  const bool is_new = stat(learner->start->list->path, &status) != 0;
  snprintf(path, sizeof path, "%s.new", learner->start->list->path);
  const int fd = open_new(path);
  if (fd < 0)
    return errno;
  take_old(learner, watch, false);
  take_cached(learner, watch);
  weigh(learner, watch);
  for (uint8_t min_weight = 1; min_weight <= MAX_WEIGHT; ++min_weight) {
    FILE *to = open_memstream(&text, &size);
    if (!to)
      break;
    write_pages(learner, watch, min_weight, to);
    if (fclose(to) == 0 && size <= MAX_LIST)
      break;
    free(text);
    text = NULL;
  }
  errno = ENOSPC; /* a part is written */
  int error = !text ? ENOMEM : write(fd, text, size) == (ssize_t)size ? 0 : errno;
  if (close(fd) != 0 && !error)
    error = errno;
  free(text);
  if (!error && rename(path, learner->start->list->path) != 0)
    error = errno;
  if (error)
    unlink(path);
  else if (is_new)
    keep_newest(folder_of(learner->start->list), MAX_LISTS);
  return error;
}

static void report(const struct learner *learner, int error) {
  fprintf(stderr, "frontload-run: %s: %s: ", error ? "warning" : "note",
          learner->start->list->path);
  if (error)
    fprintf(stderr, "cannot be learnt: %s\n", strerror(error));
  else if (!learner->looks)
    fputs("nothing was learnt: the start was too short, or is another user's\n", stderr);
  else
    fprintf(stderr,
            "this start touched %.1f MB%s, the list has %.1f MB of %u starts; %u looks took %.1f "
            "ms\n",
            (double)learner->seen * WATCH_PAGE / 1e6, learner->has_all ? "" : " at least",
            (double)learner->listed * WATCH_PAGE / 1e6, learner->starts + 1, learner->looks,
            (double)own_ns() / 1e6);
}

void learn_here(const struct start *start) {
  struct learner learner = {.start = start,
                            .kinds = known_starts(start->list->path, start->command)};
  struct watch watch;
  enum { OF_PROCESS = 1, IDLE = 3 << 13 }; /* linux/ioprio.h */
  SYS(setpriority, PRIO_PROCESS, 0, 19);   /* SCHED_IDLE would get no turn on a busy machine */
  SYS(ioprio_set, OF_PROCESS, 0, IDLE);
  setsid(); /* Ctrl-C is for the command */
  bool is_new;
  if (known_starts_wait(&learner.kinds, &is_new)) {
    if (start->verbose)
      fprintf(stderr, "frontload-run: note: %s: this start was %s earlier ones\n",
              start->list->path, is_new ? "unlike" : "like");
    return;
  }
  char program[PATH_MAX];
  if (!realpath(start->program, program) || chdir("/") != 0 ||
      !watch_begin(&watch, start->command, start->program, program, start->home))
    return;
  /* The kernel reads the first page: a list of this page alone shows whether a start is cold. */
  struct seen_file *file = watch_file(&watch, program);
  if (file)
    file->mapped = true;
  take_old(&learner, &watch, true);
  watch_start(&learner, &watch);
  watch_end(&watch);
  const int error = write_list(&learner, &watch);
  if (start->verbose)
    report(&learner, error);
}

static void learn(void *start) { learn_here(start); }

bool learn_apart(struct start *start) {
  static const char name[] = "frontload-learn";
  return run_apart(name, start->verbose, learn, start) ||
         run_beside_process_1(name, start->verbose, learn, start);
}

/* Whether only this user can enter the folder, and has no rights that the caller lacks. */
static bool is_ours(const char *folder) {
  struct stat status;
  return lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) && !(status.st_mode & 077) &&
         status.st_uid == geteuid() && getuid() == geteuid();
}

/* Makes a folder and those above it. */
static int make_folders(char *path) {
  if (mkdir(path, 0700) == 0 || errno == EEXIST)
    return 0;
  char *end = strrchr(path, '/');
  if (errno != ENOENT || !end || end == path)
    return errno;
  *end = 0;
  const int error = make_folders(path);
  *end = '/';
  return error ? error : mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

int learn_prepare(const struct learnt_list *list) {
  char *folder = folder_of(list);
  int error = learnt_list_obstacle(list);
  if (!error)
    error = make_folders(folder);
  return error ? error : is_ours(folder) ? 0 : EPERM;
}

int learn_forget(const struct learnt_list *list) {
  const char *folder = folder_of(list);
  if (!is_ours(folder))
    return access(folder, F_OK) == 0 ? EPERM : 0;
  if (list->path[list->folder])
    return unlink(list->path) == 0 || errno == ENOENT ? 0 : errno;
  keep_newest(folder, 0);
  return rmdir(folder) == 0 ? 0 : errno;
}
