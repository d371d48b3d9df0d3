/* Asks /proc/self/maps. See mappings.h.
 *
 * Since Linux 6.11 one mapping after the other can be asked for, of code alone: 20 of the 110 that
 * a program with 16 libraries has. Before that, the kernel writes down all of them: 1.3 us each, as
 * much as an answer takes.
 */
#include "mappings.h"

#include "base/system_calls.h"
#include "base/text.h"

#include <errno.h>
#include <sys/ioctl.h>

/* A line has less than 100 bytes and a path. */
enum { TEXT_CAPACITY = 2 << 20 };

/* Of linux/fs.h, which is older than this in many places. */
struct question {
  uint64_t size, flags, address;
  uint64_t begin, end, told_flags, page_size, offset, inode;
  uint32_t major, minor, path_size, build_id_size;
  uint64_t path, build_id;
};

#define ASK _IOWR('f', 17, struct question)

enum { EXECUTABLE = 1 << 2, SHARED = 1 << 3, THIS_OR_NEXT = 1 << 4, OF_FILE = 1 << 5 };

static bool is_same_file(const struct mapped_file *a, const struct mapped_file *b) {
  return a->inode == b->inode && a->device == b->device && a->path_size == b->path_size &&
         same_bytes((const unsigned char *)a->path, (const unsigned char *)b->path, a->path_size);
}

static unsigned number_of(struct mappings *mappings, const struct mapped_file *file) {
  unsigned number = mappings->file_count;
  /* The mappings of a file mostly follow each other. On btrfs its number is that of another file in
   * another subvolume, too. */
  while (number > 0 && !is_same_file(&mappings->file[number - 1], file))
    --number;
  if (number > 0)
    return number - 1;
  if (mappings->file_count == MOST_FILES)
    return MOST_FILES;
  copy_bytes((unsigned char *)&mappings->file[mappings->file_count], (const unsigned char *)file,
             sizeof *file);
  return mappings->file_count++;
}

/* False if there are too many. */
static bool add(struct mappings *mappings, const struct mapping *mapping,
                const struct mapped_file *file) {
  const unsigned number = number_of(mappings, file);
  if (number == MOST_FILES || mappings->mapping_count == MOST_MAPPINGS)
    return false;
  struct mapping *added = &mappings->mapping[mappings->mapping_count++];
  copy_bytes((unsigned char *)added, (const unsigned char *)mapping, sizeof *mapping);
  added->file = number;
  return true;
}

/* False if the kernel does not answer, or there are too many. */
static bool ask_for_each(int fd, struct mappings *mappings) {
  struct question question;
  for (uint64_t at = 0;; at = question.end) {
    for (unsigned i = 0; i < sizeof question / sizeof(uint64_t); ++i)
      ((volatile uint64_t *)&question)[i] = 0;
    question.size = sizeof question;
    question.flags = EXECUTABLE | OF_FILE | THIS_OR_NEXT;
    question.address = at;
    question.path = (uintptr_t)mappings->text + mappings->text_size;
    question.path_size = PATH_MAX;
    if (mappings->text_size + PATH_MAX > TEXT_CAPACITY)
      return false;
    const long error = system_call(SYS_ioctl, fd, (long)ASK, (long)&question, 0, 0, 0);
    if (error != 0 || question.end <= at)
      return error == -ENOENT;
    if (question.told_flags & SHARED || question.path_size < 2)
      continue;
    const struct mapping mapping = {question.begin, question.end, question.offset, 0};
    const struct mapped_file file = {(uint64_t)question.major << 32 | question.minor,
                                     question.inode, mappings->text + mappings->text_size,
                                     question.path_size - 1};
    const unsigned known = mappings->file_count;
    if (*file.path == '/' && !add(mappings, &mapping, &file))
      return false;
    if (mappings->file_count > known)
      mappings->text_size += question.path_size;
  }
}

/* The kernel gives a page at a time. */
static bool read_text(int fd, struct mappings *mappings) {
  long size;
  while ((size = sys_read(fd, mappings->text + mappings->text_size,
                          TEXT_CAPACITY - mappings->text_size)) > 0)
    mappings->text_size += (size_t)size;
  return size == 0 && mappings->text_size < TEXT_CAPACITY;
}

struct line {
  const char *at, *end;
};

static bool take_char(struct line *line, char c) {
  if (line->at == line->end || *line->at != c)
    return false;
  ++line->at;
  return true;
}

static int digit_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static bool take_number(struct line *line, unsigned base, uint64_t *number) {
  const char *const begin = line->at;
  *number = 0;
  for (; line->at < line->end && digit_of(*line->at) < (int)base; ++line->at)
    *number = *number * base + (uint64_t)digit_of(*line->at);
  return line->at > begin;
}

/* "begin-end rwxp offset major:minor inode    path" */
static bool parse(struct line line, struct mapping *mapping, struct mapped_file *file,
                  bool *is_private_code) {
  uint64_t begin, end, major, minor;
  if (!take_number(&line, 16, &begin) || !take_char(&line, '-') || !take_number(&line, 16, &end) ||
      !take_char(&line, ' ') || line.end - line.at < 5)
    return false;
  *is_private_code = line.at[2] == 'x' && line.at[3] == 'p';
  line.at += 4;
  if (!take_char(&line, ' ') || !take_number(&line, 16, &mapping->offset) ||
      !take_char(&line, ' ') || !take_number(&line, 16, &major) || !take_char(&line, ':') ||
      !take_number(&line, 16, &minor) || !take_char(&line, ' ') ||
      !take_number(&line, 10, &file->inode))
    return false;
  while (take_char(&line, ' '))
    ;
  mapping->begin = begin;
  mapping->end = end;
  file->device = major << 32 | minor;
  file->path = line.at;
  file->path_size = (size_t)(line.end - line.at);
  return true;
}

static bool parse_all(struct mappings *mappings) {
  const char *const end = mappings->text + mappings->text_size;
  for (struct line line = {mappings->text, mappings->text}; line.at < end; line.at = line.end + 1) {
    line.end = line.at;
    while (line.end < end && *line.end != '\n')
      ++line.end;
    struct mapping mapping;
    struct mapped_file file;
    bool is_private_code;
    if (!parse(line, &mapping, &file, &is_private_code))
      return false;
    if (is_private_code && file.path_size > 0 && *file.path == '/' &&
        !add(mappings, &mapping, &file))
      return false;
  }
  return true;
}

static bool ask(struct mappings *mappings) {
  const int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  bool is_known = ask_for_each(fd, mappings);
  if (!is_known) {
    mappings->file_count = mappings->mapping_count = 0;
    mappings->text_size = 0;
    is_known = read_text(fd, mappings) && parse_all(mappings);
  }
  sys_close(fd);
  return is_known;
}

struct mappings *read_mappings(void) {
  char *memory = sys_map_memory(sizeof(struct mappings) + TEXT_CAPACITY);
  if (is_error(memory))
    return NULL;
  struct mappings *mappings = (struct mappings *)(void *)memory;
  mappings->text = memory + sizeof *mappings;
  if (ask(mappings))
    return mappings;
  free_mappings(mappings);
  return NULL;
}

uint64_t mapped_end(const struct mappings *mappings, unsigned file) {
  uint64_t found = 0;
  for (unsigned i = 0; i < mappings->mapping_count; ++i) {
    const struct mapping *mapping = &mappings->mapping[i];
    const uint64_t end = mapping->offset + (mapping->end - mapping->begin);
    if (mapping->file == file && found < end)
      found = end;
  }
  return found;
}

void free_mappings(struct mappings *mappings) {
  sys_unmap(mappings, sizeof *mappings + TEXT_CAPACITY);
}
