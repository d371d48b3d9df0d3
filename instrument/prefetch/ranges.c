/* Finds the ranges of a front by its note. See ranges.h. */
#include "ranges.h"

#include "base/notes.h"
#include "base/system_calls.h"

#include <elf.h>
#include <stdbool.h>

/* Looks for the Frontload note among `notes`. */
static bool find_among(struct notes notes, struct frontload_note *found) {
  struct note note;
  while (next_note(&notes, &note)) {
    if (!is_note(&note, FRONTLOAD_NOTE_TYPE, FRONTLOAD_NOTE_NAME, sizeof FRONTLOAD_NOTE_NAME))
      continue;
    if (note.descriptor_size != FRONTLOAD_NOTE_DESCRIPTOR_SIZE)
      return false;
    copy_bytes((unsigned char *)&found->version, note.descriptor, note.descriptor_size);
    return found->version == FRONTLOAD_NOTE_VERSION && found->count >= 1 &&
           found->count <= FRONTLOAD_NOTE_MAX_RANGES;
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
    /* A tool has moved the notes. */
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

/* The offset in the file of a range's beginning, or of its end, which may be one past the last byte
 * of a segment. False if it is in no segment. */
static bool find_offset(const struct elf_start *start, uint64_t address, bool is_end,
                        uint64_t *offset) {
  for (unsigned i = 0; i < start->segments; ++i) {
    Elf64_Phdr segment;
    elf_start_segment(start, i, &segment);
    if (segment.p_type == PT_LOAD && segment.p_offset <= start->file_size &&
        segment.p_filesz <= start->file_size - segment.p_offset && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz + is_end) {
      *offset = segment.p_offset + (address - segment.p_vaddr);
      return true;
    }
  }
  return false;
}

static bool meets_another(const struct ranges *ranges, const struct range *other) {
  for (unsigned i = 0; i < ranges->count; ++i)
    if (ranges->range[i].begin < other->end && other->begin < ranges->range[i].end)
      return true;
  return false;
}

static uint64_t page_of(uint64_t offset) { return offset / MIN_PAGE; }

static void add_range(struct ranges *ranges, const struct range *added) {
  struct range *last = ranges->count ? &ranges->range[ranges->count - 1] : NULL;
  if (last && added->begin >= last->end && page_of(added->begin) <= page_of(last->end - 1) + 1)
    last->end = added->end;
  else
    ranges->range[ranges->count++] = *added;
}

static bool find_each(const struct elf_start *start, const struct frontload_note *note,
                      struct ranges *ranges) {
  for (uint32_t i = 0; i < note->count; ++i) {
    const uint64_t begin = note->addresses[2 * i], end = note->addresses[2 * i + 1];
    struct range range;
    if (!find_offset(start, begin, false, &range.begin) ||
        !find_offset(start, end, true, &range.end) || range.end <= range.begin ||
        range.end - range.begin != end - begin || meets_another(ranges, &range))
      return false;
    add_range(ranges, &range);
  }
  return true;
}

void find_ranges(int fd, const struct elf_start *start, struct ranges *ranges) {
  struct frontload_note note;
  ranges->count = 0;
  if (!find_note(fd, start, &note))
    return;
  if (!find_each(start, &note, ranges))
    ranges->count = 0;
}

uint64_t size_of_ranges(const struct ranges *ranges) {
  uint64_t size = 0;
  for (unsigned i = 0; i < ranges->count; ++i)
    size += ranges->range[i].end - ranges->range[i].begin;
  return size;
}

uint64_t offset_in_ranges(const struct ranges *ranges, uint64_t byte) {
  const struct range *range = ranges->range;
  for (; byte >= range->end - range->begin; ++range)
    byte -= range->end - range->begin;
  return range->begin + byte;
}

void cut_ranges(struct ranges *ranges, uint64_t size) {
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
