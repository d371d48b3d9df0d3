/* What is still to be touched: a byte for each granule of memory, in which bits say whether the
 * first touch of its data, and of each part of its code, is awaited. Nearly all of it is zero and
 * takes no room: only recorded modules have bits.
 *
 * The code that Valgrind makes of the program tests the bits itself, and calls touches_data() or
 * touches_code() for what is awaited; so what costs is one test for each access and each granule of
 * code, whatever was recorded before.
 */
#ifndef FRONTLOAD_VALGRIND_TOUCHES_H
#define FRONTLOAD_VALGRIND_TOUCHES_H

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
/* The byte of address 0; those of a granule's addresses are at `address >> GRANULE_SHIFT`. */
UChar *touches_bytes(void);
/* Addresses from here on have no byte, and nothing is awaited there: stacks are. */
Addr touches_limit(void);

/* A file is mapped so far above its own addresses. All of it is awaited that was not touched when
 * it was mapped before. `is_program`: it is the program itself. */
void touches_add(ModuleFile *file, Addr bias, Bool is_program);
/* Nothing is there any more. */
void touches_remove(Addr begin, SizeT size);
/* Whether code at this address is of a recorded module. */
Bool touches_has(Addr address);

/* What the program does. */
VG_REGPARM(2) void touches_data(Addr address, SizeT size);
/* Instructions of one granule are executed. Bit i of `starts` says that one begins at its byte i.
 */
VG_REGPARM(2) void touches_code(Addr granule, UWord starts);

/* Nothing is awaited any more, because the startup is over. */
void touches_end(void);
Bool touches_has_ended(void);
/* The startup is over after so many milliseconds; 0: it is not. */
void touches_end_after(UInt milliseconds);

/* In a forked child: all is awaited again. */
void touches_begin_again(void);

#endif
