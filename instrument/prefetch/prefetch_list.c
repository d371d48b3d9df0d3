/* Goes through a list line by line, and asks for each range as soon as its end is known. */
#include "prefetch_list.h"

#include "base/system_calls.h"
#include "base/text.h"
#include "format/frontload_gaps.h"
#include "front.h"

#include <errno.h>
#include <sys/statfs.h>

#ifndef SYS_cachestat
#define SYS_cachestat 451
#endif

static const char MAGIC[] = PREFETCH_LIST_MAGIC;
static const char FILE_LINE[] = "file\t", PROBE_LINE[] = "probe ";

/* The part of a list that is searched for probes: 8 with paths of usual lengths. */
enum { BEGINNING = 4096 };

bool next_line(struct line *line, struct line *rest) {
  line->begin = line->end = rest->begin;
  while (line->end < rest->end && *line->end != '\n')
    ++line->end;
  rest->begin = line->end < rest->end ? line->end + 1 : rest->end;
  return line->begin < rest->end;
}

bool starts_with(const struct line *line, const char *start) {
  const size_t size = string_size(start);
  return (size_t)(line->end - line->begin) >= size &&
         same_bytes((const unsigned char *)line->begin, (const unsigned char *)start, size);
}

bool is_range(const struct line *line) { return line->begin < line->end && *line->begin == '\t'; }

bool take_number(struct line *line, uint64_t *number) {
  const char *begin = line->begin;
  for (*number = 0; line->begin < line->end && *line->begin >= '0' && *line->begin <= '9';
       ++line->begin)
    if (line->begin - begin >= 18)
      return false;
    else
      *number = *number * 10 + (uint64_t)(*line->begin - '0');
  return line->begin > begin;
}

bool take_char(struct line *line, char c) { return line->begin < line->end && *line->begin++ == c; }

static int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* Takes a path off, and undoes its escapes: \\ \t \n \xNN. */
static bool take_path(struct line *line, char path[PATH_MAX]) {
  struct text text = text_in(path, PATH_MAX);
  while (line->begin < line->end && *line->begin != '\t') {
    char c = *line->begin++;
    if (c == '\\') {
      if (line->begin == line->end)
        return false;
      c = *line->begin++;
      if (c == 't' || c == 'n')
        c = c == 't' ? '\t' : '\n';
      else if (c == 'x') {
        if (line->end - line->begin < 2)
          return false;
        const int high = digit_of(line->begin[0]), low = digit_of(line->begin[1]);
        if (high < 0 || low < 0 || high + low == 0)
          return false;
        c = (char)(high * 16 + low);
        line->begin += 2;
      } else if (c != '\\')
        return false;
    }
    if (!c)
      return false;
    text_add_char(&text, c);
  }
  return !text.overflow && *path == '/';
}

bool parse_file(struct line line, struct listed *file) {
  line.begin += sizeof FILE_LINE - 1;
  if (!take_path(&line, file->path) || !take_char(&line, '\t') ||
      !take_number(&line, &file->size) || !take_char(&line, '\t') ||
      !take_number(&line, &file->seconds) || !take_char(&line, '.') ||
      !take_number(&line, &file->nanoseconds) || !take_char(&line, '\t') || line.begin == line.end)
    return false;
  file->build_id = line.begin;
  while (line.begin < line.end && *line.begin != '\t')
    ++line.begin;
  file->build_id_size = (size_t)(line.begin - file->build_id);
  return true;
}

bool parse_range(struct line *line, const struct listed *file, uint64_t min_begin,
                 struct range *range) {
  uint64_t size;
  if (!take_char(line, '\t') || !take_number(line, &range->begin) || !take_char(line, '+') ||
      !take_number(line, &size) || !take_char(line, '\t'))
    return false;
  range->end = range->begin + size;
  return size > 0 && range->begin >= min_begin && range->begin <= file->size &&
         size <= file->size - range->begin;
}

/* Opens a regular file, or returns a negative errno. Opening a device may rewind a tape. */
static int open_regular(const char *path) {
  struct stat status;
  const int error = sys_stat(path, &status);
  if (error)
    return error;
  /* What is a pipe or terminal by now must not make us wait, nor become our terminal. */
  return S_ISREG(status.st_mode) ? open_to_prefetch(path) : -ENODEV;
}

enum found { FOUND, CHANGED, MISSING };

/* Opens a listed file; `fd` is open unless the result is MISSING. */
static enum found open_listed(const struct listed *file, int *fd, struct stat *status) {
  *fd = open_regular(file->path);
  if (*fd < 0)
    return MISSING;
  if (sys_fstat(*fd, status) != 0 || !S_ISREG(status->st_mode)) {
    sys_close(*fd);
    return MISSING;
  }
  const bool is_same = (uint64_t)status->st_size == file->size &&
                       (uint64_t)status->st_mtim.tv_sec == file->seconds &&
                       (uint64_t)status->st_mtim.tv_nsec == file->nanoseconds;
  return is_same ? FOUND : CHANGED;
}

/* Opens a list and gets its size. Returns the descriptor or a negative errno. */
static int open_list(const char *path, size_t *size) {
  struct stat status;
  int fd = open_regular(path);
  if (fd < 0)
    return fd;
  int error = sys_fstat(fd, &status);
  if (!error && status.st_size > MAX_PREFETCH_LIST)
    error = -EFBIG;
  if (error)
    sys_close(fd);
  *size = (size_t)status.st_size;
  return error ? error : fd;
}

/* The file that is being probed. */
struct probed {
  struct line path; /* in the list */
  struct look look; /* its `fd` is -1 if the file cannot be opened */
  bool is_first;
};

static void end_probes(struct probed *probed) {
  if (probed->look.fd < 0)
    return;
  end_look(&probed->look);
  sys_close(probed->look.fd);
}

static bool is_same_text(const struct line *a, const struct line *b) {
  const size_t size = (size_t)(a->end - a->begin);
  return size == (size_t)(b->end - b->begin) &&
         same_bytes((const unsigned char *)a->begin, (const unsigned char *)b->begin, size);
}

/* Whether the page of a line `probe OFFSET PATH` is in memory; true if the file cannot be opened. A
 * list that is not in memory usually fails at the first probe. That probe should start no read,
 * which would split the later request. */
static bool probe_is_resident(struct line line, struct probed *probed) {
  uint64_t offset;
  line.begin += sizeof PROBE_LINE - 1;
  if (!take_number(&line, &offset) || !take_char(&line, ' '))
    return false;
  /* The file stays open for the next line with the same path. */
  if (!is_same_text(&line, &probed->path)) {
    char path[PATH_MAX];
    end_probes(probed);
    probed->path = line;
    probed->look.fd = -1;
    if (!take_path(&line, path))
      return false;
    begin_look(&probed->look, open_regular(path));
  }
  if (probed->look.fd < 0)
    return true;
  enum residency residency = RESIDENCY_UNTOLD;
  if (probed->is_first)
    residency = residency_left_alone(&probed->look, offset);
  probed->is_first = false;
  if (residency == RESIDENCY_UNTOLD)
    residency = residency_of(&probed->look, offset);
  return residency == RESIDENT && !look_has_read(&probed->look);
}

/* With `learns`, looks for the line `learn` first. */
static int look_at_header(struct line rest, bool *learns) {
  struct probed probed;
  struct line line;
  int resident = 0;
  probed.path = (struct line){NULL, NULL};
  probed.look.fd = -1;
  probed.is_first = true;
  while (next_line(&line, &rest) && !starts_with(&line, FILE_LINE) && rest.begin[-1] == '\n')
    if ((learns && (*learns = starts_with(&line, "learn "))) ||
        (starts_with(&line, PROBE_LINE) && !(resident = probe_is_resident(line, &probed))))
      break;
  end_probes(&probed);
  return resident;
}

static int look_at_list(const char *path, bool waits, bool *learns) {
  char text[BEGINNING];
  size_t ignored;
  int fd = open_list(path, &ignored);
  if (fd < 0)
    return fd;
  struct iovec to = {text, BEGINNING};
  long size = waits ? -EOPNOTSUPP : SYS(preadv2, fd, &to, 1, 0, 0, RWF_NOWAIT);
  if (size == -EOPNOTSUPP)
    size = sys_pread(fd, text, BEGINNING, 0);
  sys_close(fd);
  if (size < 0)
    return size == -EAGAIN ? 0 : (int)size;
  const struct line list = {text, text + size};
  return starts_with(&list, MAGIC) ? look_at_header(list, learns) : -EBADMSG;
}

int prefetch_list_is_resident(const char *path, bool *learns) {
  return look_at_list(path, false, learns);
}

bool prefetch_list_learns(const char *path) {
  bool learns = false;
  look_at_list(path, true, &learns);
  return learns;
}

/* If the list were mapped, truncating the file would end us. */
int read_list(const char *path, struct line *list) {
  size_t all;
  int fd = open_list(path, &all);
  if (fd < 0)
    return fd;
  char *text = sys_map_memory(all + 1); /* nothing is no size for a mapping */
  const long size = is_error(text) ? -ENOMEM : sys_read(fd, text, all);
  sys_close(fd);
  *list = (struct line){text, text + all};
  if (size == (long)all && starts_with(list, MAGIC))
    return 0;
  if (!is_error(text))
    sys_unmap(text, all + 1);
  return size < 0 ? (int)size : -EBADMSG;
}

enum { HDD, EMMC, SSD, NFS, LAZY, KINDS };
static const struct device_kind kinds[KINDS] = {[HDD] = {"hdd", FRONTLOAD_GAP_HDD},
                                                [EMMC] = {"emmc", FRONTLOAD_GAP_EMMC},
                                                [SSD] = {"ssd", FRONTLOAD_GAP_SSD},
                                                [NFS] = {"nfs", FRONTLOAD_GAP_NFS},
                                                [LAZY] = {"lazy", FRONTLOAD_GAP_LAZY}};

const struct device_kind *device_kind_named(const char *name) {
  for (unsigned i = 0; i < KINDS; ++i)
    if (same_string(kinds[i].name, name))
      return &kinds[i];
  return NULL;
}

/* Whether the disk of this number rotates: 1 or 0, by the kernel's settings; -1 if unknown. */
static int is_rotating(dev_t device) {
  /* A partition has its disk's queue. */
  for (int of_disk = 0; of_disk < 2; ++of_disk) {
    char buffer[80], digit;
    struct text path = text_in(buffer, sizeof buffer);
    text_add(&path, "/sys/dev/block/");
    text_add_number(&path, (uint32_t)(device >> 8 & 0xfff));
    text_add(&path, ":");
    text_add_number(&path, (uint32_t)((device & 0xff) | (device >> 12 & 0xfff00)));
    text_add(&path, of_disk ? "/../queue/rotational" : "/queue/rotational");
    int file = sys_open(buffer, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
      continue;
    const long size = sys_read(file, &digit, 1);
    sys_close(file);
    if (size == 1)
      return digit == '1';
  }
  return -1;
}

const struct device_kind *device_kind_of(int fd, const struct stat *status) {
  /* include/uapi/linux/magic.h of the kernel, and fs/smb/client for CIFS */
  enum { FUSE = 0x65735546, NFS_MAGIC = 0x6969, NINE_P = 0x01021997 };
  static const uint32_t CIFS = 0xff534d42;
  struct statfs system;
  if (SYS(fstatfs, fd, &system) == 0) {
    const uint32_t type = (uint32_t)system.f_type;
    if (type == FUSE)
      return &kinds[LAZY];
    if (type == NFS_MAGIC || type == NINE_P || type == CIFS)
      return &kinds[NFS];
  }
  return &kinds[is_rotating(status->st_dev) == 1 ? HDD : SSD];
}

/* A file that is being asked for. `pending`: the last range, which may still grow. */
struct asking {
  struct listed file;
  int fd; /* -1 if nothing of the file is asked for */
  const struct device_kind *given, *device;
  dev_t number; /* the number of the device that `device` is the kind of */
  struct range pending;
  uint64_t last; /* the end of the last range */
  uint64_t budget;
  bool may_count;
  struct asked *asked;
};

static void ask_for_pending(struct asking *asking) {
  struct range *range = &asking->pending;
  struct asked *asked = asking->asked;
  const uint64_t left = asking->budget > asked->bytes ? asking->budget - asked->bytes : 0;
  const uint64_t size = range->end - range->begin;
  if (size > left) {
    asked->over += size - left;
    range->end = range->begin + left / MIN_PAGE * MIN_PAGE;
  }
  if (range->end > range->begin && prefetch_range(asking->fd, range) == 0)
    asked->bytes += range->end - range->begin;
  range->begin = range->end = 0;
}

static void end_file(struct asking *asking) {
  if (asking->fd < 0)
    return;
  ask_for_pending(asking);
  sys_close(asking->fd);
  asking->fd = -1;
}

static bool begin_file(struct asking *asking, const struct line *line) {
  struct stat status;
  end_file(asking);
  asking->last = 0;
  if (!parse_file(*line, &asking->file))
    return false;
  ++asking->asked->files;
  const enum found found = open_listed(&asking->file, &asking->fd, &status);
  if (found == MISSING)
    ++asking->asked->missing;
  if (found == CHANGED) {
    ++asking->asked->changed;
    struct front front;
    /* A newer build of the file may have a front. */
    if (*asking->file.build_id != '-' && asking->asked->bytes < asking->budget &&
        prefetch_front(asking->fd, &front) == 0)
      asking->asked->bytes += front.was_resident ? 0 : front.asked;
    sys_close(asking->fd);
  }
  if (found != FOUND) {
    asking->fd = -1;
  } else if (!asking->given && (!asking->device || status.st_dev != asking->number)) {
    asking->device = device_kind_of(asking->fd, &status);
    asking->number = status.st_dev;
  }
  return true;
}

/* How many bytes from `begin` to `end` are in memory, in whole pages; 0 if unknown. */
static uint64_t resident_bytes(int fd, uint64_t begin, uint64_t end) {
  const uint64_t place[2] = {begin, end - begin};
  uint64_t counts[5]; /* cached, dirty, in writeback, evicted, recently evicted */
  const long error = SYS(cachestat, fd, place, counts);
  return error ? 0 : counts[0] * MIN_PAGE;
}

static bool add_range(struct asking *asking, struct line *line) {
  struct range range;
  if (!parse_range(line, &asking->file, asking->last, &range))
    return false;
  asking->last = range.end;
  if (asking->fd < 0)
    return true;
  if (asking->may_count &&
      resident_bytes(asking->fd, range.begin, range.end) >= range.end - range.begin) {
    asking->asked->resident += range.end - range.begin;
    return true;
  }
  struct range *pending = &asking->pending;
  if (pending->end && range.begin - pending->end <= asking->device->max_gap) {
    pending->end = range.end;
    return true;
  }
  ask_for_pending(asking);
  *pending = range;
  return true;
}

int prefetch_list_ask(const char *path, const struct device_kind *device, uint64_t budget,
                      bool may_count, struct asked *asked) {
  struct line list, line;
  /* One by one: for a whole initializer the compiler would call memset. */
  asked->files = asked->changed = asked->missing = asked->line = 0;
  asked->bytes = asked->resident = asked->over = 0;
  asked->problem = NULL;
  int error = read_list(path, &list);
  if (error)
    return error;
  struct asking asking;
  asking.fd = -1;
  asking.given = asking.device = device;
  asking.pending = (struct range){0, 0};
  asking.budget = budget;
  asking.may_count = may_count;
  asking.asked = asked;
  bool has_file = false;
  struct line rest = list;
  while (!asked->problem && next_line(&line, &rest)) {
    ++asked->line;
    if (line.end == list.end)
      asked->problem = "it was cut";
    else if (is_range(&line) && has_file)
      asked->problem = add_range(&asking, &line) ? NULL : "a range that cannot be";
    else if (starts_with(&line, FILE_LINE)) {
      has_file = begin_file(&asking, &line);
      asked->problem = has_file ? NULL : "a file that cannot be";
    }
  }
  end_file(&asking);
  sys_unmap((char *)list.begin, (size_t)(list.end - list.begin) + 1);
  return 0;
}
