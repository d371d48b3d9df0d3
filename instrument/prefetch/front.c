/* Prefetches the front of one file. See front.h and, for other programs, frontload_prefetch.h. */
#include "front.h"

#include "base/memory_limit.h"
#include "base/system_calls.h"
#include "frontload_prefetch.h"

#include <errno.h>
#include <sys/resource.h>

/* Looks for a Frontload note in a segment's bytes, and takes the addresses in it as `found`; they
 * become offsets later. Returns whether a note was there that is not blank, valid or not. */
static bool find_among(const unsigned char *bytes, size_t size, struct ranges *found) {
  static const unsigned char name[sizeof((struct frontload_note *)0)->name] = FRONTLOAD_NOTE_NAME;
  struct frontload_note note;
  for (size_t at = 0; at < size && size - at >= sizeof note; at += FRONTLOAD_NOTE_ALIGNMENT) {
    copy_bytes((unsigned char *)&note, bytes + at, sizeof note);
    if (note.type != FRONTLOAD_NOTE_TYPE || note.name_size != sizeof FRONTLOAD_NOTE_NAME ||
        !same_bytes((const unsigned char *)note.name, name, sizeof name) ||
        (note.version == FRONTLOAD_NOTE_VERSION && note.count == 0))
      continue;
    const unsigned count = FRONTLOAD_NOTE_RANGES(note.count);
    const unsigned tail = FRONTLOAD_NOTE_TAIL(note.count);
    if (note.version == FRONTLOAD_NOTE_VERSION && count <= FRONTLOAD_NOTE_MAX_RANGES &&
        tail < count && FRONTLOAD_NOTE_DESCRIPTOR_SIZE(count) <= note.descriptor_size &&
        note.descriptor_size <= size - at - FRONTLOAD_NOTE_HEAD_SIZE) {
      copy_bytes((unsigned char *)found->range, bytes + at + sizeof note,
                 count * sizeof *found->range);
      found->count = count;
      found->of_front = count - tail;
    }
    return true;
  }
  return false;
}

static void find_note(int fd, const struct elf_start *start, struct ranges *found) {
  for (unsigned i = 0; i < start->segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(start, i, &segment);
    if (segment.p_type != PT_NOTE)
      continue;
    const unsigned char *notes;
    size_t size = segment.p_filesz;
    unsigned char bytes[ELF_START_SIZE];
    if (segment.p_offset <= start->size && size <= start->size - segment.p_offset) {
      notes = start->bytes + segment.p_offset;
    } else { /* Behind the first page, as in a program with large tables for the loader. */
      const long read =
          sys_pread(fd, bytes, size < sizeof bytes ? size : sizeof bytes, segment.p_offset);
      notes = bytes;
      size = read > 0 ? (size_t)read : 0;
    }
    if (find_among(notes, size, found))
      return;
  }
}

/* The segments that are loaded, as far as the file has them. */
struct loads {
  unsigned count;
  Elf64_Phdr load[ELF_START_SIZE / sizeof(Elf64_Phdr)];
};

static void find_loads(const struct elf_start *start, struct loads *loads) {
  loads->count = 0;
  for (unsigned i = 0; i < start->segments; ++i) {
    Elf64_Phdr *segment = &loads->load[loads->count];
    elf_start_segment(start, i, segment);
    loads->count += segment->p_type == PT_LOAD && segment->p_offset <= start->file_size &&
                    segment->p_filesz <= start->file_size - segment->p_offset;
  }
}

/* The offset of a range's beginning, or of its end, right behind a segment. False if in none. */
static bool find_offset(const struct loads *loads, uint64_t address, bool is_end,
                        uint64_t *offset) {
  for (unsigned i = 0; i < loads->count; ++i) {
    const Elf64_Phdr *segment = &loads->load[i];
    if (address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz + is_end) {
      *offset = segment->p_offset + (address - segment->p_vaddr);
      return true;
    }
  }
  return false;
}

static uint64_t page_of(uint64_t offset) { return offset / MIN_PAGE; }

static void add_range(struct ranges *ranges, const struct range *added, bool may_join) {
  struct range *last = ranges->count && may_join ? &ranges->range[ranges->count - 1] : NULL;
  if (last && added->begin >= last->end && page_of(added->begin) <= page_of(last->end - 1) + 1)
    last->end = added->end;
  else
    ranges->range[ranges->count++] = *added;
}

void find_ranges(int fd, const struct elf_start *start, struct ranges *ranges) {
  struct loads loads;
  ranges->count = ranges->of_front = 0;
  find_note(fd, start, ranges);
  const unsigned noted = ranges->count, of_front = ranges->of_front;
  ranges->count = 0;
  if (!noted)
    return;
  find_loads(start, &loads);
  /* In place: never more ranges than addresses were read. */
  for (unsigned i = 0; i < noted; ++i) {
    const struct range addresses = ranges->range[i];
    struct range range;
    if (!find_offset(&loads, addresses.begin, false, &range.begin) ||
        !find_offset(&loads, addresses.end, true, &range.end) || range.end <= range.begin ||
        range.end - range.begin != addresses.end - addresses.begin) {
      ranges->count = 0;
      return;
    }
    add_range(ranges, &range, i != of_front);
    if (i < of_front)
      ranges->of_front = ranges->count;
  }
}

/* The bytes of the first ranges. */
static uint64_t size_of_ranges(const struct ranges *ranges, unsigned count) {
  uint64_t size = 0;
  for (unsigned i = 0; i < count && i < ranges->count; ++i)
    size += ranges->range[i].end - ranges->range[i].begin;
  return size;
}

/* The offset of a byte, counted through all ranges; it must be less than their size. */
static uint64_t offset_in_ranges(const struct ranges *ranges, uint64_t byte) {
  const struct range *range = ranges->range;
  for (; byte >= range->end - range->begin; ++range)
    byte -= range->end - range->begin;
  return range->begin + byte;
}

/* Leaves no more than `size` bytes: whole ranges as long as they fit, then whole pages. */
static void cut_ranges(struct ranges *ranges, uint64_t size) {
  for (unsigned i = 0; i < ranges->count; ++i) {
    struct range *range = &ranges->range[i];
    if (range->end - range->begin <= size) {
      size -= range->end - range->begin;
      continue;
    }
    range->end = (range->begin + size) & -(uint64_t)MIN_PAGE;
    ranges->count = range->end > range->begin ? i + 1 : i;
    return;
  }
}

/* How to ask for a range. One readahead(2) reads at most the device's readahead or its largest
 * request, whichever is larger, and drops the rest without a word. So each large piece is asked for
 * at once, which gives the fewest requests. It is then asked for again in small pieces, which cost
 * nothing if the large one was read as a whole, and otherwise fill in the rest.
 * A front of 10.7 MB, cold, hdd: 0.71 s and 70 major faults without a prefetch; in pieces of 128
 * KiB 0.62 and 11, 256 KiB 0.27, 1 MiB 0.21, 2 MiB 0.44 and 36. Where the largest request is 128
 * KiB, pieces of 1 MiB alone leave 32 of 40 faults, and these with 128 KiB after them 10. */
enum { SMALL_PIECE = 128 << 10 };

/* Far more than any front. A hostile file must not keep us busy, nor fill the memory. */
static const uint64_t MAX_FRONT = 256 << 20;

/* A front of at most this size is asked for without probing the page cache: asking for 1 MiB in
 * memory takes 6 us, 16 probes 3 us. But a probe of a missing page reads it: 2 of the 5 requests of
 * a cold start with a front of 0.55 MB. So small a front exceeds no memory limit. */
enum { SMALL_FRONT = 1 << 20 };

/* The front gets one part in two of the memory that the program's cgroups leave: with all of it,
 * the kernel would reclaim the front's first pages before they were used, and read them again. */
enum { MEMORY_SHARE = 2 };

/* The number of places, spread evenly over all ranges, that are probed, at a microsecond each. */
enum { PROBES = 16 };

/* Whether the front is in the page cache, by PROBES bytes of it. A probe of a missing page starts
 * its read, so the last page of the front is probed first: the kernel and the dynamic linker have
 * only read other pages by now. Warm, all prefetching of a start takes 56 us, of which the probes
 * take about 20. If residency is unknown (on overlayfs and FUSE, of another user's file), the
 * answer is no, and asking for a resident front of 10.7 MB takes another 0.25 ms. */
static bool is_resident(int fd, const struct ranges *ranges, uint64_t size) {
  struct look look;
  bool resident = true;
  begin_look(&look, fd);
  for (unsigned probe = PROBES; probe > 0 && resident; --probe) {
    const uint64_t through = size * probe / PROBES; /* 0 in a front of a few bytes */
    resident = residency_of(&look, offset_in_ranges(ranges, through ? through - 1 : 0)) == RESIDENT;
    /* The first probe finds most fronts that are missing, before other probes read for them. */
    if (probe == PROBES || probe == 1)
      resident = resident && !look_has_read(&look);
  }
  end_look(&look);
  return resident;
}

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

int prefetch_range(int fd, const struct range *range) {
  const uint64_t begin = range->begin & -(uint64_t)MIN_PAGE;
  for (uint64_t large = begin; large < range->end; large += LARGE_PIECE) {
    const uint64_t end = smaller(range->end, large + LARGE_PIECE);
    long error = SYS(readahead, fd, large, end - large);
    if (error < 0)
      return (int)error;
    for (uint64_t small = large + SMALL_PIECE; small < end; small += SMALL_PIECE)
      SYS(readahead, fd, small, smaller(end - small, SMALL_PIECE));
  }
  return 0;
}

int read_front(int fd, struct ranges *ranges, struct front *front) {
  struct elf_start start;
  int error = elf_start_read(fd, &start);
  if (error < 0)
    return error;
  find_ranges(fd, &start, ranges);
  cut_ranges(ranges, MAX_FRONT);
  front->size = front->asked = size_of_ranges(ranges, ranges->of_front);
  front->tail = size_of_ranges(ranges, ranges->count) - front->size;
  return front->size ? 0 : -ENODATA;
}

void leave_memory(struct ranges *ranges, uint64_t *size) {
  if (*size <= SMALL_FRONT)
    return;
  cut_ranges(ranges,
             memory_left(PROCESS_CGROUPS, CGROUP_MOUNT, MEMORY_SHARE * *size) / MEMORY_SHARE);
  *size = size_of_ranges(ranges, ranges->count);
}

/* Whether the last page of the tail is not in memory. False where the kernel does not tell: a warm
 * start must not make a process for the tail. */
static bool misses_tail(int fd, const struct ranges *ranges) {
  struct look look;
  if (ranges->of_front >= ranges->count)
    return false;
  begin_look(&look, fd);
  const bool misses =
      residency_of(&look, ranges->range[ranges->count - 1].end - 1) == NOT_RESIDENT ||
      look_has_read(&look);
  end_look(&look);
  return misses;
}

int prefetch_front(int fd, struct front *front) {
  struct ranges ranges;
  int error = read_front(fd, &ranges, front);
  if (error < 0)
    return error;
  front->misses_tail = false;
  front->was_resident = front->size > SMALL_FRONT && is_resident(fd, &ranges, front->size);
  if (front->was_resident)
    return 0;
  const unsigned count = ranges.count;
  if (ranges.of_front < count)
    ranges.count = ranges.of_front;
  leave_memory(&ranges, &front->asked);
  for (unsigned i = 0; i < ranges.count && !error; ++i)
    error = prefetch_range(fd, &ranges.range[i]);
  ranges.count = count;
  front->misses_tail = !error && front->asked == front->size && misses_tail(fd, &ranges);
  return error;
}

__attribute__((visibility("default"))) int frontload_prefetch(const char *path) {
  struct front front;
  int fd = open_to_prefetch(path);
  if (fd < 0)
    return fd;
  int error = prefetch_front(fd, &front);
  sys_close(fd);
  return error;
}
