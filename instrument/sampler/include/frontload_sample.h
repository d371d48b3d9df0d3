/* Samples of starts in production: which pages of its files a program has touched when it is ready.
 *
 * The library belongs to no program that is not sampled: it is preloaded where samples are wanted,
 *
 *     LD_PRELOAD=/usr/lib/frontload/libfrontload-sample.so \
 *     FRONTLOAD_SAMPLE=/var/tmp/samples/%m.%p.flsample FRONTLOAD_SAMPLE_EVERY=100 /usr/bin/app
 *
 * as a service manager does by a line of its settings. A static program is linked with it instead:
 * libfrontload-sample.a and -Wl,-u,frontload_ready.
 *
 *     FRONTLOAD_SAMPLE        the path of the sample: %p is the process, %m the program's file
 * name,
 *                             %% a percent sign. It must be absolute
 *     FRONTLOAD_SAMPLE_EVERY  one start of so many is sampled, by chance; without it, all
 *     FRONTLOAD_SAMPLE_SLICES a start tells of one slice of so many of each file, by chance, and
 *                             costs a fraction of what it does without it
 *     FRONTLOAD_ROLE          what the sample calls the process (see frontload.h)
 *
 * The sample is a few kilobytes: the build-ids and paths of the program and its libraries, and the
 * numbers of touched pages. It has no contents, no arguments and no environment, and nobody but the
 * program's user can read it. `frontload profile` makes a startup profile of samples of several
 * builds.
 *
 * It is written when the program says that it is ready, or else when it ends by exit(). A program
 * that is ended by a signal or by _exit() before that leaves none. Forked children have their own.
 * If there is a file by that path, .1, .2... is put behind it. Until a sample is whole it has a
 * number and .part there; a program that is killed meanwhile leaves that.
 *
 * While it is sampled, a start has one minor page fault for each page that it touches: the kernel
 * maps no neighbours along with it (userfaultfd(2), Linux 6.7). With FRONTLOAD_SAMPLE_SLICES=10 it
 * has them for a tenth of its pages, another in each start. Where that is not to be had, as in
 * a container whose filter of system calls forbids it, the sample tells of windows of 64 KiB. On
 * Linux before 6.7, /proc/self/pagemap is read instead of asked. Three descriptors above 200 are
 * open until the program is ready: of userfaultfd, of /proc/self/pagemap and of /proc/self/status.
 *
 * Whatever fails, the program goes on, without a sample; one line on stderr says why, if that is
 * still what the program was started with. Set-user-id programs are never sampled, without a word,
 * and nor are those that start where /proc is not mounted, which may be such ones.
 *
 * A program that gives itself a filter of system calls has to be ready before: otherwise there is
 * no sample, nothing is said, and the three descriptors stay open. To see the filter takes fstat()
 * and read(). Where these do not tell, in forked children (which use pread() instead), in other
 * threads than the first, and in programs that have closed the descriptor, it takes prctl(): there,
 * a filter that kills for these calls kills the program at its end. If another filter was there
 * from the start, as in most containers, prctl() does not tell, either, nor does Linux before 5.9:
 * then a filter that kills for opening files does so.
 */
#ifndef FRONTLOAD_SAMPLE_READY_H
#define FRONTLOAD_SAMPLE_READY_H

#ifdef __cplusplus
extern "C" {
#endif

/* The start is over: the sample is written now, if this start is sampled. You may call it from any
 * thread, and more than once: the first call counts.
 *
 * A program declares it weak, and includes no header:
 *
 *     void frontload_ready(void) __attribute__((weak));
 *     if (frontload_ready)
 *       frontload_ready();
 */
void frontload_ready(void);

#ifdef __cplusplus
}
#endif

#endif
