/* Whether the kernel will execute a file, found out before Valgrind relies on it.
 *
 * A program may try to execute a file that the kernel refuses, and goes on. Under Valgrind it would
 * not: by the time when the kernel answers, Valgrind has ended the program's other threads and
 * cannot go back, or the program is replaced by a Valgrind that then cannot load the file. Valgrind
 * looks at little of a file before that. So the kernel is asked beforehand about each file that is
 * not plainly a program of this machine, or a script for one. Only the kernel knows: there may be
 * an emulator for programs of another machine.
 */
#ifndef FRONTLOAD_VALGRIND_REFUSED_EXEC_H
#define FRONTLOAD_VALGRIND_REFUSED_EXEC_H

#include <stdbool.h>

/* The errno with which the exec of a file fails; 0 if it does not, or if that cannot be told. */
int refused_exec(const char *path, bool may_make_processes);

#endif
