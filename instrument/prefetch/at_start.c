/* Prefetches the front of the starting program before it is relocated, and the ranges of its
 * reading list, if one lies beside it.
 *
 * The dynamic linker relocates a program before any of its code runs, and relocation touches a good
 * part of the front: a constructor would come too late. But the dynamic linker relocates libraries
 * before the program that needs them, and calls a library's IFUNC resolvers as it relocates it. So
 * this is a resolver in a library that needs no other, and works with raw system calls.
 *
 * The order among the needed libraries: glibc relocates libc first, and then the others in the
 * reverse order of its list. In that list, a library stands before those it needs; otherwise the
 * program's DT_NEEDED entries come first, in their order, and then those of the libraries. So the
 * *last* of the program's DT_NEEDED entries is relocated before all others there. The first is
 * relocated after them, but still before the program. The difference is the part of the program's
 * symbol table that their relocation looks up; for a clang it could not be measured.
 *
 * In a static program, linked with the archive and -Wl,-u,frontload_prefetch_at_start, the start-up
 * code of libc calls the resolver, before constructors. A static program has nothing else to
 * relocate; a static-pie has its relative relocations applied before.
 *
 * musl knows no IFUNC and refuses to load libraries that have one. There it is a constructor, which
 * comes after relocation but before main(): better than nothing, and `frontload-run` is better yet.
 */
#include "base/auxiliary.h"
#include "base/system_calls.h"
#include "base/text.h"
#include "front.h"
#include "reading_list.h"

#include <stdbool.h>

/* A list beside the program, /usr/bin/app.files, names the ranges of other files that its startup
 * reads. The archive does without (CMakeLists.txt). */
static void prefetch_list(void) {
#ifndef FRONTLOAD_WITHOUT_LISTS
  char path[PATH_MAX];
  struct text name = text_in(path, sizeof path);
  const long size = sys_readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0)
    return;
  text_cut(&name, (size_t)size);
  text_add(&name, ".files");
  if (!name.overflow && reading_list_is_resident(path) == 0)
    reading_list_ask_apart(path, NULL, NULL);
#endif
}

static void prefetch_program(void) {
  struct auxiliary auxiliary;
  if (!read_auxiliary(&auxiliary) || is_privileged(&auxiliary))
    return;
  int fd = sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return;
  struct front front;
  prefetch_front(fd, &front);
  sys_close(fd);
  prefetch_list();
}

#ifdef __GLIBC__

typedef void function(void);

static void nothing(void) {}

static function *resolve(void) {
#ifdef __aarch64__
  /* GNU ld makes two relocations here: of the pointer below, and of a jump that is never made. */
  static bool was_asked;
  if (was_asked)
    return nothing;
  was_asked = true;
#endif
  prefetch_program();
  return nothing;
}

/* Never called. The pointer to it makes the dynamic linker resolve it. */
__attribute__((visibility("hidden"), ifunc("resolve"))) function frontload_prefetch_at_start;

__attribute__((used, retain)) static function *const wanted = frontload_prefetch_at_start;

#else

__attribute__((visibility("hidden"), constructor)) void frontload_prefetch_at_start(void) {
  prefetch_program();
}

#endif
