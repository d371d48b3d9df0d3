/* Reads /proc/self/maps. See mappings.h. */
#include "mappings.h"

#include "base/system_calls.h"
#include "base/text.h"

/* A line has less than 100 bytes and a path. */
enum { TEXT_CAPACITY = 2 << 20 };

/* The kernel gives a page at a time. To ask it for one mapping after the other (PROCMAP_QUERY,
 * since Linux 6.11) takes as long: 1.4 us each on the machine where a line took 1.3. */
static bool read_text(struct mappings *mappings) {
  const int fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  long size;
  while ((size = sys_read(fd, mappings->text + mappings->text_size,
                          TEXT_CAPACITY - mappings->text_size)) > 0)
    mappings->text_size += (size_t)size;
  sys_close(fd);
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
                  bool *is_private) {
  uint64_t begin, end, major, minor;
  if (!take_number(&line, 16, &begin) || !take_char(&line, '-') || !take_number(&line, 16, &end) ||
      !take_char(&line, ' ') || line.end - line.at < 5)
    return false;
  file->has_code = line.at[2] == 'x';
  *is_private = line.at[3] == 'p';
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

static bool parse_all(struct mappings *mappings) {
  const char *const end = mappings->text + mappings->text_size;
  for (struct line line = {mappings->text, mappings->text}; line.at < end; line.at = line.end + 1) {
    line.end = line.at;
    while (line.end < end && *line.end != '\n')
      ++line.end;
    struct mapping mapping;
    struct mapped_file file;
    bool is_private;
    if (!parse(line, &mapping, &file, &is_private))
      return false;
    if (!is_private || file.path_size == 0 || *file.path != '/')
      continue;
    mapping.file = number_of(mappings, &file);
    if (mapping.file == MOST_FILES || mappings->mapping_count == MOST_MAPPINGS)
      return false;
    mappings->file[mapping.file].has_code |= file.has_code;
    copy_bytes((unsigned char *)&mappings->mapping[mappings->mapping_count++],
               (const unsigned char *)&mapping, sizeof mapping);
  }
  return true;
}

struct mappings *read_mappings(void) {
  char *memory = sys_map_memory(sizeof(struct mappings) + TEXT_CAPACITY);
  if (is_error(memory))
    return NULL;
  struct mappings *mappings = (struct mappings *)(void *)memory;
  mappings->text = memory + sizeof *mappings;
  if (read_text(mappings) && parse_all(mappings))
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
