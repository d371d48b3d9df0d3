/* Walks through the ELF notes of a PT_NOTE segment, in memory. Nothing in them is trusted. */
#pragma once

#include "text.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rounds up; `alignment` is a power of two. */
static inline uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/* The notes that were not visited yet. */
struct notes {
  const unsigned char *bytes;
  size_t size;
  size_t alignment; /* see note_alignment */
};

struct note {
  uint32_t type;
  const unsigned char *name; /* its size includes a zero at the end */
  size_t name_size;
  const unsigned char *descriptor;
  size_t descriptor_size;
};

/* The alignment of notes in a segment with this p_align. */
static inline size_t note_alignment(uint64_t p_align) { return p_align == 8 ? 8 : 4; }

/* Takes the first note off `rest`. False if there is none, or it is cut. */
static inline bool next_note(struct notes *rest, struct note *note) {
  Elf64_Nhdr header; /* the same in 32-bit files */
  if (rest->size < sizeof header)
    return false;
  copy_bytes((unsigned char *)&header, rest->bytes, sizeof header);
  const uint64_t descriptor = align_up(sizeof header + (uint64_t)header.n_namesz, rest->alignment);
  const uint64_t end = descriptor + header.n_descsz;
  if (end > rest->size)
    return false;
  note->type = header.n_type;
  note->name = rest->bytes + sizeof header;
  note->name_size = header.n_namesz;
  note->descriptor = rest->bytes + descriptor;
  note->descriptor_size = header.n_descsz;
  const uint64_t next = align_up(end, rest->alignment); /* the last note may lack its padding */
  const size_t taken = next < rest->size ? (size_t)next : rest->size;
  rest->bytes += taken;
  rest->size -= taken;
  return true;
}

/* Finds the build-id among notes. False if they have none of 1 to `max_size` bytes. */
static inline bool find_build_id(struct notes notes, size_t max_size, struct note *id) {
  static const unsigned char name[] = ELF_NOTE_GNU;
  while (next_note(&notes, id))
    if (id->type == NT_GNU_BUILD_ID && id->name_size == sizeof name &&
        same_bytes(id->name, name, sizeof name) && id->descriptor_size > 0 &&
        id->descriptor_size <= max_size)
      return true;
  return false;
}
