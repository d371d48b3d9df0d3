/* Asks the kernel for the front of a file that is about to be opened.
 *
 * For programs that open libraries themselves: a library with a front, linked by ld.frontload with
 * --front-prefetch, is read from a cold disk in a few large requests, and the dynamic linker finds
 * it in memory:
 *
 *     #include <dlfcn.h>
 *     #include <frontload_prefetch.h>
 *
 *     frontload_prefetch("/usr/lib/app/plugin.so");
 *     void *plugin = dlopen("/usr/lib/app/plugin.so", RTLD_NOW);
 *
 * Link with -lfrontload-prefetch, the .so or the .a. A program that is linked with the .so (or with
 * the .a and -Wl,-u,frontload_prefetch_at_start) also has its own front prefetched when it starts,
 * if it has one.
 */
#ifndef FRONTLOAD_PREFETCH_H
#define FRONTLOAD_PREFETCH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Prefetches the front of the file at `path`, a path as open(2) takes it: libraries are not
 * searched for. It returns as soon as the kernel has been asked, and does not wait for the disk.
 *
 * Returns 0, also where the front is in memory already, or a negative errno: -ENODATA if the file
 * is not ELF of this machine's kind or has no valid note of a front, otherwise why it cannot be
 * read (-ENOENT, -EACCES, ...). It is advice: whatever it returns, the file can be opened as ever.
 *
 * May be called at any time, from any thread and from signal handlers. It neither needs libc nor
 * changes errno, and leaves no descriptor open. */
int frontload_prefetch(const char *path);

#ifdef __cplusplus
}
#endif

#endif
