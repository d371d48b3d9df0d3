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

struct notes {
  const unsigned char *bytes;
  size_t size;
  size_t alignment; /* see note_alignment */
};

struct note {
  const unsigned char *descriptor;
  size_t descriptor_size;
};

/* The alignment of notes in a segment with this p_align. */
static inline size_t note_alignment(uint64_t p_align) { return p_align == 8 ? 8 : 4; }

/* Finds the build-id among notes. False if they have none of 1 to `max_size` bytes, or are cut. */
static inline bool find_build_id(struct notes notes, size_t max_size, struct note *id) {
  static const unsigned char name[] = ELF_NOTE_GNU;
  Elf64_Nhdr header; /* the same in 32-bit files */
  while (notes.size >= sizeof header) {
    copy_bytes((unsigned char *)&header, notes.bytes, sizeof header);
    const uint64_t descriptor =
        align_up(sizeof header + (uint64_t)header.n_namesz, notes.alignment);
    const uint64_t end = descriptor + header.n_descsz;
    if (end > notes.size)
      return false;
    id->descriptor = notes.bytes + descriptor;
    id->descriptor_size = header.n_descsz;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof name &&
        same_bytes(notes.bytes + sizeof header, name, sizeof name) && id->descriptor_size > 0 &&
        id->descriptor_size <= max_size)
      return true;
    const uint64_t next = align_up(end, notes.alignment); /* the last note may lack its padding */
    const size_t taken = next < notes.size ? (size_t)next : notes.size;
    notes.bytes += taken;
    notes.size -= taken;
  }
  return false;
}
