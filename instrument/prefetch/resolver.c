/* Has the front asked for before the program is relocated.
 *
 * Relocation touches a good part of the front before any code of the program runs: a constructor
 * would come too late. But the dynamic linker relocates libraries before the program that needs
 * them, in glibc the last DT_NEEDED entry first, and calls their IFUNC resolvers. So this is a
 * resolver in a library that needs no other, and works with raw system calls. In a static program,
 * linked with the archive and -Wl,-u,frontload_prefetch_at_start, libc's start-up code calls it.
 *
 * musl ignores this in static programs, and refuses to load programs and libraries that have it.
 * There it is before_main.c's matter.
 */
#include "front.h"

#include <features.h>

#ifdef __GLIBC__

typedef void function(void);

static void nothing(void) {}

static function *resolve(void) {
  frontload_prefetch_own_front();
  return nothing;
}

/* Never called. The pointer to it makes the dynamic linker resolve it. */
__attribute__((visibility("hidden"), ifunc("resolve"))) function frontload_prefetch_at_start;

__attribute__((used, retain)) static function *const wanted = frontload_prefetch_at_start;

#endif
