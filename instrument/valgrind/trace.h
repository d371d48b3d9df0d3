/* The trace of one process, in the format of frontload_trace.h, written as things are touched.
 *
 * Every record is written at once and only then counted in the header, so that it is in the file
 * whatever becomes of the program. A file is made by the first record.
 */
#pragma once

#include "format/frontload_trace.h"
#include "module_file.h"

/* Where traces go: the pattern of --output, with %m, %p and %%. Checked by frontload-valgrind.
 * `role` is for a process whose environment names none; or NULL. */
void trace_begin(const HChar *pattern, const HChar *role);

/* Records a first touch. A `module` without a number in this trace gets one, and is announced.
 * `program` is announced before all others. */
void trace_event(enum frontload_record_kind kind, ModuleFile *program, ModuleFile *module,
                 Addr address);

/* Recording ends here on purpose. */
void trace_mark_startup_done(void);

/* From here on no file is opened: processes that this one forks have no traces. */
void trace_open_no_more(void);

/* In a forked child: later touches go to a trace of its own. */
void trace_begin_again(void);
