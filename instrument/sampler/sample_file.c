/* Puts a sample together. See sample_file.h. */
#include "sample_file.h"

#include "base/elf_start.h"
#include "base/notes.h"
#include "base/system_calls.h"

#include <errno.h>

enum { LARGEST_BUILD_ID = 64 };

static struct frontload_sample_header *header_of(struct sample *sample) {
  return (struct frontload_sample_header *)(void *)sample->bytes;
}

struct sample *begin_sample(const struct frontload_sample_header *header,
                            const struct page_table *table) {
  struct sample *sample = sys_map_memory(sizeof *sample);
  if (is_error(sample))
    return NULL;
  copy_bytes(sample->bytes, (const unsigned char *)header, sizeof *header);
  sample->size = sizeof *header;
  sample->table = table;
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

/* The number of a device as the kernel shows it among the mappings, from the one that stat(2)
 * gives. */
static uint64_t shown_device(dev_t device) {
  const uint64_t major = device >> 8 & 0xfff, minor = (device & 0xff) | (device >> 12 & 0xfff00);
  return major << 32 | minor;
}

/* Of the file that was mapped, if it is still there by that path; the program itself is found in
 * any case. -1 if not. */
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
  if (fd >= 0 && sys_fstat(fd, &status) == 0 && status.st_ino == file->inode &&
      shown_device(status.st_dev) == file->device)
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

static void flush(struct sample *sample) {
  if (sample->begin < sample->end) {
    add_number(sample, sample->begin - sample->last);
    add_number(sample, sample->end - sample->begin);
    sample->last = sample->end;
    ++sample->ranges;
  }
  sample->begin = sample->end;
}

/* A page at the end of one segment may be mapped again at the beginning of the next: it is touched
 * if it is in either. */
static void add_range(void *taker, uintptr_t begin, uintptr_t end) {
  struct sample *sample = taker;
  const uint64_t page_size = sample->table->page_size;
  const uint64_t place = sample->mapping->offset - sample->mapping->begin;
  uint64_t first = (begin + place) / page_size, last = (end + place) / page_size;
  if (first < sample->end)
    first = sample->end;
  if (first >= last)
    return;
  if (first > sample->end) {
    flush(sample);
    sample->begin = first;
  }
  sample->end = last;
}

bool add_module(struct sample *sample, const struct mappings *mappings, unsigned number,
                unsigned flags) {
  const struct mapped_file *file = &mappings->file[number];
  unsigned char build_id[LARGEST_BUILD_ID];
  const size_t before = sample->size;
  const int fd = open_file(file, flags & FRONTLOAD_SAMPLE_MAIN);
  if (fd < 0)
    return false;
  const long id_size = read_build_id(fd, build_id);
  sys_close(fd);
  if (id_size < 0)
    return false;
  add_number(sample, flags);
  add_number(sample, (uint64_t)id_size);
  add_bytes(sample, build_id, (size_t)id_size);
  add_number(sample, file->path_size);
  add_bytes(sample, file->path, file->path_size);
  /* How many ranges there are is known when all are there. A number may have bytes to spare. */
  const size_t count_at = sample->size;
  add_number(sample, UINT64_C(1) << 27);
  sample->ranges = sample->begin = sample->end = sample->last = 0;
  bool is_told = true;
  for (unsigned i = 0; i < mappings->mapping_count && is_told; ++i) {
    sample->mapping = &mappings->mapping[i];
    if (sample->mapping->file == number)
      is_told = touched_pages(sample->table, sample->mapping->begin, sample->mapping->end,
                              add_range, sample);
  }
  flush(sample);
  if (!is_told || sample->is_too_large) {
    sample->size = before;
    return false;
  }
  for (unsigned i = 0; i < 4; ++i)
    sample->bytes[count_at + i] = (unsigned char)((sample->ranges >> 7 * i & 0x7f) | (i < 3) << 7);
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

long write_sample(struct sample *sample, struct text *path, uint32_t suffix) {
  header_of(sample)->size = (uint32_t)sample->size;
  if (path->overflow)
    return -ENAMETOOLONG;
  int fd = create(path->start);
  if (fd == -EEXIST) {
    text_add_char(path, '.');
    text_add_number(path, suffix);
    fd = path->overflow ? -ENAMETOOLONG : create(path->start);
  }
  if (fd < 0)
    return fd;
  /* Beyond the limit on file sizes there is a signal too, and it would end the program. */
  const signal_set pending = sys_pending_signals();
  const signal_set before = sys_change_blocked_signals(SIG_BLOCK, SIGNAL_BIT(SIGXFSZ));
  const long written = sys_write(fd, sample->bytes, sample->size);
  sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~pending);
  sys_change_blocked_signals(SIG_SETMASK, before);
  sys_close(fd);
  if (written == (long)sample->size)
    return 0;
  sys_unlink(path->start);
  return written < 0 ? written : -ENOSPC;
}
