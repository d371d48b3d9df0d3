/* Puts a sample together. See sample_file.h. */
#include "sample_file.h"

#include "base/elf_start.h"
#include "base/free_suffix.h"
#include "base/notes.h"
#include "base/system_calls.h"

#include <errno.h>

enum { LARGEST_BUILD_ID = 64 };

static struct frontload_sample_header *header_of(struct sample *sample) {
  return (struct frontload_sample_header *)(void *)sample->bytes;
}

struct sample *begin_sample(const struct frontload_sample_header *header,
                            const struct page_table *table, const struct slice *asked) {
  struct sample *sample = sys_map_memory(sizeof *sample);
  if (is_error(sample))
    return NULL;
  copy_bytes(sample->bytes, (const unsigned char *)header, sizeof *header);
  sample->size = sizeof *header;
  sample->table = table;
  sample->asked = asked;
  return sample;
}

void free_sample(struct sample *sample) { sys_unmap(sample, sizeof *sample); }

static void add_bytes(struct sample *sample, const void *bytes, size_t size) {
  if (size > LARGEST_SAMPLE - sample->size) {
    sample->is_too_large = true;
    return;
  }
  copy_bytes(sample->bytes + sample->size, bytes, size);
  sample->size += size;
}

static size_t encode(unsigned char *bytes, uint64_t number) {
  size_t size = 0;
  for (; number >= 0x80; number >>= 7)
    bytes[size++] = (unsigned char)(number | 0x80);
  bytes[size++] = (unsigned char)number;
  return size;
}

static void add_number(struct sample *sample, uint64_t number) {
  unsigned char bytes[10];
  add_bytes(sample, bytes, encode(bytes, number));
}

/* Of the file that was mapped, if it is still there by that path; the program itself is found in
 * any case. -1 if not. The devices are not compared: on btrfs and some overlays, stat(2) has others
 * than the mappings. */
static int open_file(const struct mapped_file *file, bool is_main) {
  char path[PATH_MAX];
  if (is_main)
    return sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
  if (file->path_size >= sizeof path)
    return -1;
  copy_bytes((unsigned char *)path, (const unsigned char *)file->path, file->path_size);
  path[file->path_size] = '\0';
  const int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  struct stat status;
  if (fd >= 0 && sys_fstat(fd, &status) == 0 && status.st_ino == file->inode)
    return fd;
  if (fd >= 0)
    sys_close(fd);
  return -1;
}

/* Returns how many bytes the build-id has, or a negative errno if this is no ELF file of ours. */
static long read_build_id(int fd, unsigned char *build_id) {
  struct elf_start start;
  const int error = elf_start_read(fd, &start);
  if (error < 0)
    return error;
  for (unsigned i = 0; i < start.segments; ++i) {
    Elf64_Phdr segment;
    unsigned char bytes[2048];
    elf_start_segment(&start, i, &segment);
    if (segment.p_type != PT_NOTE)
      continue;
    const long size =
        sys_pread(fd, bytes, segment.p_filesz < sizeof bytes ? segment.p_filesz : sizeof bytes,
                  segment.p_offset);
    struct notes notes = {bytes, size > 0 ? (size_t)size : 0, note_alignment(segment.p_align)};
    struct note note;
    while (next_note(&notes, &note))
      if (is_note(&note, NT_GNU_BUILD_ID, "GNU", 4) && note.descriptor_size <= LARGEST_BUILD_ID) {
        copy_bytes(build_id, note.descriptor, note.descriptor_size);
        return (long)note.descriptor_size;
      }
  }
  return 0;
}

static bool is_touched(const struct sample *sample, uint64_t page) {
  return sample->touched[page / 64] >> page % 64 & 1;
}

/* Pages are numbered by file, and mappings may overlap there: a page at the end of one segment may
 * be mapped again at the beginning of the next. It is touched if it is in either. */
static void add_range(void *taker, uintptr_t begin, uintptr_t end, bool is_exact) {
  struct sample *sample = taker;
  const uint64_t page_size = sample->table->page_size;
  const uint64_t place = sample->mapping->offset - sample->mapping->begin;
  const uint64_t first = (begin + place) / page_size, last = (end + place) / page_size;
  if (last > MOST_PAGES) {
    sample->is_too_large = true;
    return;
  }
  for (uint64_t page = first; page < last; ++page)
    sample->touched[page / 64] |= UINT64_C(1) << page % 64;
  if (sample->end < last)
    sample->end = last;
  sample->is_exact &= is_exact;
}

/* The one behind `end`. */
static bool next_range(const struct sample *sample, uint64_t *begin, uint64_t *end) {
  *begin = *end;
  while (*begin < sample->end && !is_touched(sample, *begin))
    *begin += *begin % 64 == 0 && sample->touched[*begin / 64] == 0 ? 64 : 1;
  *end = *begin;
  while (*end < sample->end && is_touched(sample, *end))
    ++*end;
  return *begin < *end;
}

static void add_ranges(struct sample *sample) {
  uint64_t begin, end, last, count = 0;
  for (end = 0; next_range(sample, &begin, &end);)
    ++count;
  add_number(sample, count);
  for (end = last = 0; next_range(sample, &begin, &end); last = end) {
    add_number(sample, begin - last);
    add_number(sample, end - begin);
  }
}

/* False if the kernel does not tell. */
static bool look_at_pages(struct sample *sample, const struct mappings *mappings, unsigned file,
                          const struct slice *asked) {
  for (uint64_t i = 0; i < (sample->end + 63) / 64; ++i)
    sample->touched[i] = 0;
  sample->end = 0;
  sample->is_exact = true;
  sample->slice = slice_of(asked, mappings, file, sample->table->page_size);
  for (unsigned i = 0; i < mappings->mapping_count; ++i) {
    const struct mapping *mapping = sample->mapping = &mappings->mapping[i];
    if (mapping->file != file)
      continue;
    for (uintptr_t begin, end = mapping->begin;
         next_in_slice(&sample->slice, mapping, &begin, &end);)
      if (!touched_pages(sample->table, begin, end, add_range, sample))
        return false;
  }
  return true;
}

/* Of a file that was mapped when it was too late to know pages exactly, windows of all of it are
 * told. */
static bool look_at_slice(struct sample *sample, const struct mappings *mappings, unsigned file) {
  static const struct slice all = {.count = 1};
  return look_at_pages(sample, mappings, file, sample->asked) &&
         (sample->is_exact || sample->asked->count == 1 ||
          look_at_pages(sample, mappings, file, &all));
}

/* A program that was replaced while it ran has " (deleted)" behind its path. */
static size_t path_size(const struct mapped_file *file, bool is_main) {
  static const char mark[] = " (deleted)";
  const size_t size = sizeof mark - 1;
  const char *const end = file->path + file->path_size;
  return is_main && file->path_size > size &&
                 same_bytes((const unsigned char *)end - size, (const unsigned char *)mark, size)
             ? file->path_size - size
             : file->path_size;
}

bool add_module(struct sample *sample, const struct mappings *mappings, unsigned number,
                bool is_main) {
  const struct mapped_file *file = &mappings->file[number];
  unsigned char build_id[LARGEST_BUILD_ID];
  const size_t before = sample->size;
  const int fd = open_file(file, is_main);
  if (fd < 0)
    return false;
  const long id_size = read_build_id(fd, build_id);
  sys_close(fd);
  if (id_size < 0 || !look_at_slice(sample, mappings, number))
    return false;
  add_number(sample, (is_main ? FRONTLOAD_SAMPLE_MAIN : 0) |
                         (sample->is_exact ? FRONTLOAD_SAMPLE_EXACT : 0) |
                         (sample->slice.count > 1 ? FRONTLOAD_SAMPLE_SLICED : 0));
  add_number(sample, (uint64_t)id_size);
  add_bytes(sample, build_id, (size_t)id_size);
  add_number(sample, path_size(file, is_main));
  add_bytes(sample, file->path, path_size(file, is_main));
  if (sample->slice.count > 1) {
    add_number(sample, sample->slice.stripe / sample->table->page_size);
    add_number(sample, sample->slice.count);
    add_number(sample, sample->slice.number);
  }
  add_ranges(sample);
  if (sample->is_too_large) {
    sample->is_too_large = false;
    sample->size = before;
    return false;
  }
  if (sample->slice.count > 1)
    header_of(sample)->major = FRONTLOAD_SAMPLE_MAJOR;
  ++header_of(sample)->modules;
  return true;
}

static int create(const char *path) {
  const int fd = sys_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0 || fd > 2)
    return fd;
  /* The program has closed these, and may mean to open them itself. */
  const int moved = sys_fcntl(fd, F_DUPFD_CLOEXEC, 3);
  sys_close(fd);
  if (moved < 0)
    sys_unlink(path);
  return moved;
}

/* 0, or a negative errno if the file is not whole. */
static long write_all(int fd, const struct sample *sample) {
  /* Beyond the limit on file sizes there is a signal too, and it would end the program. */
  const signal_set pending = sys_pending_signals();
  const signal_set before = sys_change_blocked_signals(SIG_BLOCK, SIGNAL_BIT(SIGXFSZ));
  const long written = sys_write(fd, sample->bytes, sample->size);
  sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~pending);
  sys_change_blocked_signals(SIG_SETMASK, before);
  if (written == (long)sample->size)
    return 0;
  return written < 0 ? written : -ENOSPC;
}

/* -EEXIST if something has the name. Not all file systems can rename so; those that cannot have
 * links. */
static long give_name(const char *path, const char *name) {
  enum { NO_REPLACE = 1 };
  long error =
      system_call(SYS_renameat2, AT_FDCWD, (long)path, AT_FDCWD, (long)name, NO_REPLACE, 0);
  if (error != -EINVAL && error != -ENOSYS)
    return error;
  error = system_call(SYS_linkat, AT_FDCWD, (long)path, AT_FDCWD, (long)name, 0, 0);
  if (error == 0)
    sys_unlink(path);
  return error;
}

static bool exists(const char *path) {
  const int fd = sys_open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
  if (fd >= 0)
    sys_close(fd);
  return fd >= 0;
}

static long give_free_name(const char *path, struct text *name) {
  const size_t size = name->size;
  long error = give_name(path, name->start);
  struct free_suffix search = FREE_SUFFIX;
  for (uint32_t suffix; error == -EEXIST && (suffix = free_suffix_next(&search)) != 0;) {
    text_cut(name, size);
    text_add_char(name, '.');
    text_add_number(name, suffix);
    if (name->overflow)
      return -ENAMETOOLONG;
    bool is_taken;
    if (free_suffix_is_wanted(&search, suffix)) {
      error = give_name(path, name->start);
      is_taken = error == -EEXIST;
    } else {
      is_taken = exists(name->start);
    }
    free_suffix_saw(&search, suffix, is_taken);
  }
  return error;
}

long write_sample(struct sample *sample, struct text *path, uint32_t number) {
  char buffer[PATH_MAX];
  struct text unfinished = text_in(buffer, sizeof buffer);
  text_add(&unfinished, path->start);
  text_add_char(&unfinished, '.');
  text_add_number(&unfinished, number);
  text_add(&unfinished, ".part"); /* by which `frontload profile` does not find it */
  header_of(sample)->size = (uint32_t)sample->size;
  if (path->overflow || unfinished.overflow)
    return -ENAMETOOLONG;
  const int fd = create(buffer);
  if (fd < 0)
    return fd;
  long error = write_all(fd, sample);
  sys_close(fd);
  if (error == 0)
    error = give_free_name(buffer, path);
  if (error < 0)
    sys_unlink(buffer);
  return error;
}
