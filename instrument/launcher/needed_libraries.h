/* The libraries that a program needs, before it runs.
 *
 * The program's own dynamic linker lists them (`ld.so --list PROGRAM`), with the search paths,
 * caches and preloads that it will use to load them. This runs only the interpreter, which is about
 * to run anyway, and never the program; a static program has no interpreter.
 *
 * Variables for one run of the program (LD_AUDIT, LD_DEBUG, LD_PROFILE) do not affect the list.
 */
#ifndef FRONTLOAD_LAUNCHER_NEEDED_LIBRARIES_H
#define FRONTLOAD_LAUNCHER_NEEDED_LIBRARIES_H

/* Calls `visit` with the path of each library; not at all if they are unknown. */
void forEachNeededLibrary(char *program, void (*visit)(const char *path));

#endif
