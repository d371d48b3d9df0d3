/* A constructor that waits for what the resolver began (resolver.c), and has the front asked for
 * where no resolver is called: in programs for musl.
 *
 * A constructor comes after relocation, but this one before the program's own, since compilers
 * leave them no place before the 101st. In the archive, -Wl,-u,frontload_prefetch_before_main
 * takes it.
 */
#include "front.h"

__attribute__((visibility("hidden"), constructor(101))) void frontload_prefetch_before_main(void) {
  frontload_prefetch_own_front();
  frontload_prefetch_end_start();
}
