/* Finds and prefetches the front of one file. See front.h. */
#include "front.h"

#include "base/elf_start.h"
#include "base/notes.h"
#include "base/system_calls.h"
#include "format/frontload_note.h"

#include <errno.h>

#ifndef RWF_NOWAIT /* not every libc has it */
#define RWF_NOWAIT 8
#endif

/* How to ask. One readahead(2) reads at most the device's readahead or its largest request,
 * whichever is larger, and drops the rest without a word. So each large piece is asked for at once,
 * which gives the fewest requests, and then again in small pieces, which cost nothing where the
 * large one was read as a whole, and fill in what is missing where it was not.
 *
 * Measured with a front of 10.7 MB of a 200 MB program, cold, on ext4 with 128 KiB readahead; the
 * 11 faults left are not in the front:
 *
 *                         major faults, requests, seconds at   the same on a device whose largest
 *                         150 requests/s and 80 MB/s           request is 128 KiB
 *   no prefetch           70   111   0.71                      40   113   0.71
 *   128 KiB               11    96   0.62                      10   100   0.61
 *   256 KiB               11    57   0.27
 *   1 MiB                 11    37   0.21                      32   105   0.61
 *   2 MiB                 36    70   0.44
 *   12 MB at once         59   100   0.65
 *   1 MiB, then 128 KiB   11    37   0.21                      10   100   0.61
 *
 * It does not wait: the calls took 2 ms of the 0.21 s, and the disk is read beside relocation.
 * madvise(MADV_POPULATE_READ) of a mapping waits for all of it, 0.50 s of 0.61 in all, because it
 * makes the requests of ordinary faults. To ask first for the data that relocation needs first
 * gained nothing. */
enum { LARGE_PIECE = 1 << 20, SMALL_PIECE = 128 << 10 };

/* Far more than any front. A hostile file must not keep us busy, nor fill the memory. */
static const uint64_t LARGEST_FRONT = 256 << 20;

/* Where the front is looked at to see whether it is resident: enough that few of its pages can be
 * missing, and cheap, at a microsecond each. */
enum { PROBES = 16 };

static bool is_valid(const struct frontload_note *note) {
  return note->version == FRONTLOAD_NOTE_VERSION && note->tiers >= 1 &&
         note->tiers <= FRONTLOAD_NOTE_MAX_TIERS &&
         note->descriptor_size == FRONTLOAD_NOTE_DESCRIPTOR_SIZE(note->tiers);
}

/* Looks for ours among `notes`. */
static bool find_among(struct notes notes, struct frontload_note *found) {
  struct note note;
  while (next_note(&notes, &note)) {
    if (!is_note(&note, FRONTLOAD_NOTE_TYPE, FRONTLOAD_NOTE_NAME, sizeof FRONTLOAD_NOTE_NAME))
      continue;
    if (note.descriptor_size > FRONTLOAD_NOTE_DESCRIPTOR_SIZE(FRONTLOAD_NOTE_MAX_TIERS) ||
        note.descriptor_size < FRONTLOAD_NOTE_DESCRIPTOR_SIZE(1))
      return false;
    found->descriptor_size = (uint32_t)note.descriptor_size;
    copy_bytes((unsigned char *)&found->version, note.descriptor, note.descriptor_size);
    return is_valid(found);
  }
  return false;
}

static bool find_note(int fd, const struct elf_start *start, struct frontload_note *note) {
  for (unsigned i = 0; i < start->segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(start, i, &segment);
    if (segment.p_type != PT_NOTE)
      continue;
    struct notes notes = {.alignment = note_alignment(segment.p_align)};
    if (segment.p_offset <= start->size && segment.p_filesz <= start->size - segment.p_offset) {
      notes.bytes = start->bytes + segment.p_offset;
      notes.size = segment.p_filesz;
      if (find_among(notes, note))
        return true;
      continue;
    }
    /* A tool has moved it. */
    unsigned char bytes[ELF_START_SIZE];
    long size =
        sys_pread(fd, bytes, segment.p_filesz < sizeof bytes ? segment.p_filesz : sizeof bytes,
                  segment.p_offset);
    notes.bytes = bytes;
    notes.size = size > 0 ? (size_t)size : 0;
    if (find_among(notes, note))
      return true;
  }
  return false;
}

/* The offset in the file of a tier's end; 0, which no tier's end has, if there is none. */
static uint64_t offset_of(const struct elf_start *start, uint64_t end) {
  for (unsigned i = 0; i < start->segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(start, i, &segment);
    if (segment.p_type == PT_LOAD && segment.p_offset <= start->file_size &&
        segment.p_filesz <= start->file_size - segment.p_offset && end >= segment.p_vaddr &&
        end - segment.p_vaddr <= segment.p_filesz)
      return segment.p_offset + (end - segment.p_vaddr);
  }
  return 0;
}

/* The size of the front; 0 if there is none. */
static uint64_t find_front(int fd, const struct elf_start *start) {
  struct frontload_note note;
  if (!find_note(fd, start, &note))
    return 0;
  uint64_t size = 0;
  for (uint32_t i = 0; i < note.tiers; ++i) {
    uint64_t offset = offset_of(start, note.ends[i]);
    if (offset <= size)
      return 0;
    size = offset;
  }
  return size;
}

/* Whether the front is in the page cache, as far as a few bytes of it tell.
 *
 * A read with RWF_NOWAIT fails where it would have to wait for the disk. mincore(2) and
 * cachestat(2) would not do: the kernel answers them only for the owner of a file, and programs are
 * root's; and cachestat is so new that filters of system calls kill for it. A read that fails
 * starts the read of that one page, so it is the last page of the front that is tried first: what
 * the kernel and the dynamic linker have read by now is elsewhere.
 *
 * Warm, all of a start's prefetching takes 56 us so, of which these are about 20. Where a file
 * system does not support such reads (overlayfs, FUSE, most network file systems), the answer is
 * no, and to ask for what is there already takes another 0.25 ms for a front of 10.7 MB. */
static bool is_resident(int fd, uint64_t size) {
  for (unsigned probe = PROBES; probe > 0; --probe) {
    char byte;
    struct iovec to = {&byte, 1};
    if (sys_preadv2(fd, &to, 1, size * probe / PROBES - 1, RWF_NOWAIT) != 1)
      return false;
  }
  return true;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static int read_ahead(int fd, uint64_t size) {
  for (uint64_t large = 0; large < size; large += LARGE_PIECE) {
    uint64_t end = smaller(size, large + LARGE_PIECE);
    long error = sys_readahead(fd, large, end - large);
    if (error < 0)
      return (int)error;
    for (uint64_t small = large + SMALL_PIECE; small < end; small += SMALL_PIECE)
      sys_readahead(fd, small, smaller(end - small, SMALL_PIECE));
  }
  return 0;
}

int prefetch_front(int fd, struct front *front) {
  struct elf_start start;
  int error = elf_start_read(fd, &start);
  if (error < 0)
    return error;
  front->size = smaller(find_front(fd, &start), LARGEST_FRONT);
  if (front->size == 0)
    return -ENODATA;
  front->was_resident = is_resident(fd, front->size);
  return front->was_resident ? 0 : read_ahead(fd, front->size);
}

int prefetch_path(const char *path, struct front *front) {
  /* A pipe or a terminal by that name must neither make us wait nor become ours. */
  int fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
  if (fd < 0)
    return fd;
  int error = prefetch_front(fd, front);
  sys_close(fd);
  return error;
}
