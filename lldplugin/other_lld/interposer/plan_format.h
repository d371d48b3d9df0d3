/* plan_format.h - what ld.frontload tells the library that it preloads into another lld.
 *
 * One file in memory, which both programs map: written by ld.frontload before the link, read by the
 * linker while it reads its inputs. The linker writes only `num_served` and the last table. Offsets
 * are in bytes from the beginning. Both programs run on one machine, so integers are native.
 *
 *   struct frontload_plan
 *   struct frontload_plan_file[num_files]      ascending by device, then by inode
 *   struct frontload_plan_patch[num_patches]   those of a file ascending by offset, apart
 *   uint64_t[num_slots]                        a hash table with linear probing: the hash h of a
 *                                              string of startup is in slot h % num_slots or behind
 *                                              it; 0 is an empty slot, and there is one
 *   uint8_t[num_slots]                         whether the linker has hashed that string
 */
#pragma once

#include <stdint.h>

/* The environment variable that has the path of the plan. */
#define FRONTLOAD_PLAN_VARIABLE "FRONTLOAD_LLD_PLAN"

#define FRONTLOAD_PLAN_MAGIC "frontload lld 1"
#define FRONTLOAD_PATCH_SIZE 4

struct frontload_plan {
  char magic[16];
  uint64_t num_files, num_patches, num_slots; /* num_slots is 0 or a power of two */
  /* A hash in the table loses the bits of `shard_bits`; any other hash gets at least `least_other`
   * in these bits. */
  uint64_t shard_bits, least_other;
};

struct frontload_plan_file {
  uint64_t device, inode, size;
  int64_t modified_seconds, modified_nanoseconds;
  uint64_t first_patch, num_patches;
  uint64_t num_served; /* how many patches the linker was given, to be changed atomically */
};

/* Bytes of a file that the linker is to see in place of those that are there. */
struct frontload_plan_patch {
  uint64_t offset;
  unsigned char before[FRONTLOAD_PATCH_SIZE], after[FRONTLOAD_PATCH_SIZE];
};
