/* The awaited first touches: a byte for each granule of memory, with bits for its data and for each
 * part of its code. Nearly all bytes are zero and take no room: only recorded modules have bits.
 *
 * The code that Valgrind makes of the program tests the bits itself, and calls touches_data() or
 * touches_code() only for awaited touches. So the cost is one test for each access and each granule
 * of code.
 */
#pragma once

#include "module_file.h"

enum {
  AWAITS_DATA = 1,
  AWAITS_CODE = 0xf0, /* a bit for each part, that of the first is the lowest */
  AWAITS_FIRST_PART = 0x10,
  GRANULE_SHIFT = 4,
  PART_SHIFT = 2,
};

/* Gets room for the bytes. False if there is none. */
Bool touches_begin(void);
/* The byte of address 0; that of any address is `address >> GRANULE_SHIFT` behind it. */
UChar *touches_bytes(void);
/* Addresses from here on (stacks) have no byte, and nothing is awaited there. */
Addr touches_limit(void);

/* A file is mapped with this load bias. All of it is awaited, except the touches of earlier
 * mappings. `is_program`: it is the program itself. */
void touches_add(ModuleFile *file, Addr bias, Bool is_program);
/* The range was unmapped. */
void touches_remove(Addr begin, SizeT size);
/* Whether code at this address is of a recorded module. */
Bool touches_has(Addr address);

/* The program reads or writes data. */
VG_REGPARM(2) void touches_data(Addr address, SizeT size);
/* Instructions of one granule are executed: one begins at byte i if bit i of `starts` is set. */
VG_REGPARM(2) void touches_code(Addr granule, UWord starts);

/* Nothing is awaited any more, because the startup is over. */
void touches_end(void);
Bool touches_has_ended(void);
/* The startup is over after this time; 0: no limit. */
void touches_end_after(UInt milliseconds);

/* In a forked child: all is awaited again. */
void touches_begin_again(void);
