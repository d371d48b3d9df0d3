/* The libraries that a program needs, before it runs.
 *
 * The dynamic linker that will load them says which ones (`ld.so --list PROGRAM`), so search paths,
 * caches and preloads count as they will. This runs the interpreter that the program names and is
 * about to run anyway, and never the program itself; a static program has none.
 *
 * Code that watches the dynamic linker (LD_AUDIT) does not hear of that, nor does what else is
 * there for one run of the program. A program that names such code itself (DT_AUDIT) cannot be
 * asked about: the dynamic linker would run that code for the list, too.
 */
#ifndef FRONTLOAD_LAUNCHER_NEEDED_LIBRARIES_H
#define FRONTLOAD_LAUNCHER_NEEDED_LIBRARIES_H

/* Calls `visit` with the path of each, of none if they cannot be known. */
void forEachNeededLibrary(char *program, void (*visit)(const char *path));

#endif
