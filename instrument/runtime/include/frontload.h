/* The Frontload runtime: records which functions a program enters while it starts, and which data
 * it touches, in order.
 *
 * Build the program with one of
 *
 *     -finstrument-functions                   gcc or clang
 *     -finstrument-functions-after-inlining    clang; best: only functions that really exist
 *     -finstrument-function-entry-bare         clang; the smallest code
 *     -fsanitize-coverage=func,trace-pc,trace-loads,trace-stores
 *                                              clang; also data (see below)
 *
 * and link it with the runtime. libc has hooks of its own, which do nothing, so the runtime has to
 * come before libc. If no trace appears, this is the reason.
 *
 *     cc -finstrument-functions main.o -lfrontload-rt
 *         with the archive, or with the .so
 *     cc -finstrument-functions -Wl,-u,__cyg_profile_func_enter -lfrontload-rt main.o
 *         with the archive before the objects, or with gcc's -flto
 *     LD_PRELOAD=libfrontload-rt.so ./program
 *         for a program linked with neither
 *
 * A program with coverage does not link without a runtime. The compiler would add the sanitizer's,
 * which does nothing here: to do without it, leave -fsanitize-coverage out of the link, or add
 * -fno-sanitize-link-runtime there.
 *
 * Instrumented shared libraries use the executable's hooks. If only a library is instrumented,
 * preload the .so as above, or link the archive into the library as a private copy, with
 * -Wl,--exclude-libs,libfrontload-rt.a (otherwise the library gets libc's hooks). All such copies
 * in a process write one trace.
 *
 * Run the program with
 *
 *     FRONTLOAD_TRACE=/absolute/path/%m.%p.trace ./program
 *
 *     %p   the process's id. Each process, forked children included, writes a file of its own
 *     %m   the program's file name
 *     %%   a percent sign
 *
 * A relative path counts from the folder in which the program was started. The runtime never
 * writes to a file that exists: it appends ".1", ".2", ... to the name. Without FRONTLOAD_TRACE,
 * and in set-user-id programs, it records nothing and makes no file. If it cannot record a program,
 * it prints why in one line on stderr, and the program runs on unaffected. Do not truncate a trace
 * while its program runs: the trace is mapped into that program. A trace is 4 MiB large at first,
 * most of it a hole that takes no room on the disk. Only the program's user can read it.
 *
 *     FRONTLOAD_ROLE=renderer
 *
 * beside it gives the traces a role, by which `frontload profile --role renderer` finds them. A
 * process has the role of the environment in which its program was started, and a forked child that
 * of its parent. A program that is started with a text that cannot be a role runs unrecorded.
 *
 * Each function of each module appears once, at its first touch, for each of the ways above in
 * which it is instrumented. A function that was only inlined is recorded at the address of its
 * out-of-line copy, except with -finstrument-functions-after-inlining,
 * -finstrument-function-entry-bare, and coverage. With the last two, the address lies inside the
 * function, in the call of the hook: look for the symbol that contains the address.
 *
 * Data: a load or store of 1, 2, 4, 8 or 16 bytes touches one or two granules of 16 bytes of the
 * module that the address belongs to, which may be the program or any library, instrumented or not.
 * Each granule appears once. Memory that belongs to no module (stacks, the heap, thread-local data)
 * does not appear. Clang has no hooks for
 *
 *     copies of structures, memcpy and the like, and what libraries that are not instrumented do
 *     atomic read-modify-write operations, long double, vectors of more than 16 bytes
 *     what has no source: constants of floating-point numbers, jump tables
 *     functions whose first block does not end, such as those that do nothing but abort
 *
 * and with trace-loads or trace-stores alone it has none at all: `func` is needed. Without trace-pc
 * only data is recorded, which is the best choice beside -finstrument-functions; a link that has
 * -fsanitize-coverage then needs -Wl,-u,__sanitizer_cov_trace_pc. A program that opens instrumented
 * libraries by dlopen has to export the hooks, by -Wl,--export-dynamic-symbol=__sanitizer_cov_*, or
 * be linked with the runtime's .so. A recorded program takes two to three times as long.
 *
 * Limits: Linux 4.14 or newer; x86-64, AArch64 or 64-bit RISC-V. A program that confines itself
 * with a seccomp filter that kills on open or madvise, or with strict mode, has to call
 * frontload_startup_done() first. Instrumented IFUNC resolvers need the archive: they run too early
 * to call any library, libc's hooks included.
 */
#ifndef FRONTLOAD_H
#define FRONTLOAD_H

#ifdef __cplusplus
extern "C" {
#endif

/* Ends recording in this process and in those it forks later: startup is over. What was recorded is
 * in the file already. You may call it at any time, from any thread and from signal handlers, and
 * more than once.
 *
 * A program that is not always linked with the runtime declares it weak, and includes no header:
 *
 *     void frontload_startup_done(void) __attribute__((weak));
 *     if (frontload_startup_done)
 *       frontload_startup_done();
 */
void frontload_startup_done(void);

/* Says what this process is to do, as FRONTLOAD_ROLE does, in its trace and in those of the
 * children that it forks later: for processes that are forked and execute nothing, as from a
 * zygote. `role` is 1 to 31 printable ASCII characters without spaces; anything else is not taken.
 * Without FRONTLOAD_TRACE it does nothing, nor with a recorder beside the program. Call it from one
 * thread, at any time. It can be declared weak, as the function above.
 */
void frontload_set_role(const char *role);

#ifdef __cplusplus
}
#endif

#endif
