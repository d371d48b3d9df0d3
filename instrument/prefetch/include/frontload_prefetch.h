/* Asks the kernel for the front of a file that is about to be opened.
 *
 * This is for programs that open libraries themselves. If ld.frontload linked a library with
 * --front-prefetch, its front is read from a cold disk in a few large requests, and the dynamic
 * linker finds it in memory:
 *
 *     #include <dlfcn.h>
 *     #include <frontload_prefetch.h>
 *
 *     frontload_prefetch("/usr/lib/app/plugin.so");
 *     void *plugin = dlopen("/usr/lib/app/plugin.so", RTLD_NOW);
 *
 * Link with -lfrontload-prefetch, the .so or the .a. A program linked with the .so (or with the .a
 * and -Wl,-u,frontload_prefetch_at_start) also prefetches its own front when it starts, if it has
 * one. With musl, it is the .a and -Wl,-u,frontload_prefetch_before_main.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Prefetches the front of the file at `path`, a path as open(2) takes it: it does not search for
 * libraries. It returns as soon as it has asked the kernel, and does not wait for the disk.
 *
 * Returns 0, also if the front is in memory already, or a negative errno: -ENODATA if the file is
 * not ELF of this machine's kind or has no valid note of a front, otherwise why it cannot be read
 * (-ENOENT, -EACCES, ...). It is only advice: whatever it returns, you can open the file as usual.
 *
 * You may call it at any time, from any thread and from signal handlers. It needs no libc, does not
 * change errno, and leaves no descriptor open. */
int frontload_prefetch(const char *path);

#ifdef __cplusplus
}
#endif
