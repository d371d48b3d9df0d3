/* Whether the kernel will execute a file, found out before Valgrind relies on it.
 *
 * A program may try to execute a file that the kernel refuses, and go on. Under Valgrind it could
 * not: when the kernel answers, Valgrind has ended the program's other threads and cannot go back,
 * or a new Valgrind has replaced the program and cannot load the file. Valgrind checks little of a
 * file before that. So the kernel is asked beforehand about each file that is not plainly a program
 * of this machine, or a script for one. Only the kernel can answer: there may be an emulator for
 * programs of another machine.
 */
#ifndef FRONTLOAD_VALGRIND_REFUSED_EXEC_H
#define FRONTLOAD_VALGRIND_REFUSED_EXEC_H

#include <stdbool.h>

/* The errno with which the exec of a file fails; 0 if it succeeds, or that is unknown. */
int refused_exec(const char *path, bool may_make_processes);

#endif
