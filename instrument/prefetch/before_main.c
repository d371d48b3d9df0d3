/* Has the front asked for by a constructor, for where no resolver is called (resolver.c): in
 * programs for musl.
 *
 * A constructor comes after relocation, but this one before the program's own, since compilers
 * leave them no place before the 101st. That is better than nothing, and `frontload-run` is better
 * yet. It is in the archive alone, for -Wl,-u,frontload_prefetch_before_main.
 */
#include "front.h"

__attribute__((visibility("hidden"), constructor(101))) void frontload_prefetch_before_main(void) {
  frontload_prefetch_own_front();
}
