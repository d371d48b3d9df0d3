/* The trace of one process, in the format of frontload_trace.h, written as things are touched.
 *
 * Every record is written at once and only then counted in the header, so that it is in the file
 * whatever becomes of the program. A file is made by the first record.
 */
#ifndef FRONTLOAD_VALGRIND_TRACE_FILE_H
#define FRONTLOAD_VALGRIND_TRACE_FILE_H

#include "format/frontload_trace.h"
#include "module_file.h"

/* Where traces go: the pattern of --output, with %m, %p and %%. Checked by frontload-valgrind.
 * `role` is that of a process whose environment does not say it; or NULL. */
void trace_begin(const HChar *pattern, const HChar *role);

/* One first touch, in a module whose `number` says which it is in this trace; 0 is given a number,
 * and announced. `program` is announced before all others. */
void trace_event(enum frontload_record_kind kind, ModuleFile *program, ModuleFile *module,
                 Addr address);

/* Recording ends here on purpose. */
void trace_mark_startup_done(void);

/* From here on nothing is opened: processes that this one forks have no traces. */
void trace_open_no_more(void);

/* In a forked child: what follows goes to a trace of its own. */
void trace_begin_again(void);

#endif
