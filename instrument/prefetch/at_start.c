/* Prefetches the front of the starting program before it is relocated, and the ranges of its
 * reading list, if one lies beside it.
 *
 * The dynamic linker relocates a program before any of its code runs, and relocation touches a good
 * part of the front: a constructor would come too late. But the dynamic linker relocates libraries
 * before the program that needs them, and calls a library's IFUNC resolvers as it relocates it. So
 * this is a resolver in a library that needs no other, and works with raw system calls.
 *
 * glibc relocates libc first, and then the others in the reverse order of its list, in which the
 * program's DT_NEEDED entries come first. So the *last* of these entries is relocated before all
 * others. The first is relocated after them, but still before the program; for a clang the
 * difference could not be measured.
 *
 * In a static program, linked with the archive and -Wl,-u,frontload_prefetch_at_start, the start-up
 * code of libc calls the resolver, before constructors. A static program has nothing else to
 * relocate; a static-pie has its relative relocations applied before.
 *
 * musl knows no IFUNC and refuses to load libraries that have one. There it is a constructor, which
 * comes after relocation but before main(): better than nothing, and `frontload-run` is better yet.
 */
#include "base/system_calls.h"
#include "base/text.h"
#include "front.h"
#include "reading_list.h"

#include <elf.h>
#include <stdbool.h>

/* Only in the shared library. A static program gets them out of the archive if it calls them: in a
 * small one, the code for lists would cost as much to read as its front. */
#pragma weak reading_list_is_resident
#pragma weak reading_list_ask_apart

/* A list beside the program, /usr/bin/app.files, names the ranges of other files that its startup
 * reads. */
static void prefetch_list(void) {
  if (!reading_list_is_resident)
    return;
  char path[PATH_MAX];
  struct text name = text_in(path, sizeof path);
  const long size = sys_readlink("/proc/self/exe", path, sizeof path - 1);
  if (size <= 0)
    return;
  text_cut(&name, (size_t)size);
  text_add(&name, ".files");
  if (!name.overflow && reading_list_is_resident(path) == 0)
    reading_list_ask_apart(path, NULL, NULL);
}

/* Whether the kernel runs this program with rights that its caller lacks: set-user-id, or file
 * capabilities, which no user id shows. True also if the auxiliary vector does not tell. */
static bool is_privileged(void) {
  enum { GET_AUXILIARY = 0x41555856 }; /* PR_GET_AUXV of linux/prctl.h, since Linux 6.4 */
  Elf64_auxv_t vector[64];
  /* Tried first: opening a file in /proc takes 30 us. */
  long size = SYS(prctl, GET_AUXILIARY, vector, sizeof vector);
  if (size <= 0) {
    const int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
      return true;
    size = sys_read(fd, vector, sizeof vector);
    sys_close(fd);
  }
  if (size > (long)sizeof vector)
    size = (long)sizeof vector;
  for (long i = 0; i < size / (long)sizeof *vector; ++i)
    if (vector[i].a_type == AT_SECURE)
      return vector[i].a_un.a_val != 0;
  return true;
}

static void prefetch_program(void) {
  if (is_privileged())
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
