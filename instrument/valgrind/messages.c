/* Writes without harm to the program, and keeps its secrets out of Valgrind's messages. (The
 * functions of the core that are replaced here are linked with --wrap.) */
#include "messages.h"

#include <pub_tool_vki.h>

#include "base/system_calls.h"

/* Of the core: the place of its messages and ours. In every version this begins with a descriptor
 * beyond those of the program; below 0, nothing is written. */
extern Int VG_(log_output_sink)[];

void messages_leave_standard_error(void) {
  if (VG_(log_output_sink)[0] == 2)
    VG_(log_output_sink)[0] = -1;
}

Int real_write(Int descriptor, const void *bytes, Int size) __asm__("__real_vgPlain_write");
Int wrap_write(Int descriptor, const void *bytes, Int size) __asm__("__wrap_vgPlain_write");

/* The program's own pending signals stay. Valgrind does not block any while it starts. */
static Int write_message(Int descriptor, const void *bytes, Int size) {
  const signal_set sent = SIGNAL_BIT(SIGPIPE) | SIGNAL_BIT(SIGXFSZ);
  const signal_set blocked = sys_change_blocked_signals(SIG_BLOCK, sent);
  const signal_set own = sys_pending_signals();
  const Int written = real_write(descriptor, bytes, size);
  sys_discard_signal(SIGNAL_BIT(SIGPIPE) & ~own);
  sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~own);
  sys_change_blocked_signals(SIG_SETMASK, blocked);
  return written;
}

/* Replaces the core's function, which writes its messages and ours, and traces. If the reader has
 * gone, or a file may not grow, a signal would end the program, which has not caused it. */
Int wrap_write(Int descriptor, const void *bytes, Int size) {
  if (descriptor == VG_(log_output_sink)[0])
    return write_message(descriptor, bytes, size);
  const Int written = real_write(descriptor, bytes, size);
  if (written == -VKI_EFBIG)
    sys_discard_signal(SIGNAL_BIT(SIGXFSZ));
  return written;
}

/* Replaces the core's function, which prints a thread's place and callers. Without debug info, any
 * data on the stack, such as the environment, would be taken for callers. If Valgrind gives up, it
 * ignores --num-callers=1. */
void real_stack_trace(ThreadId thread,
                      UInt max_callers) __asm__("__real_vgPlain_get_and_pp_StackTrace");
void wrap_stack_trace(ThreadId thread,
                      UInt max_callers) __asm__("__wrap_vgPlain_get_and_pp_StackTrace");
void wrap_stack_trace(ThreadId thread, UInt max_callers) {
  real_stack_trace(thread, max_callers ? 1 : 0);
}
