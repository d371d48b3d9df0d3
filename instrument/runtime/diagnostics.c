/* The lines that the runtime may write, one for each thing that it cannot record:
 *
 *     frontload-rt: warning: <thing>: <what is wrong>: <errno text> (<outcome>)
 *
 * A line goes to stderr only if that is still the file of the program's start: a daemon that has
 * closed its stderr may have opened a data base as descriptor 2 since.
 */
#include "base/error_text.h"
#include "base/system_calls.h"
#include "runtime.h"

void frontload_note_stderr(struct config *config) {
  struct stat status;
  if (sys_fstat(2, &status) < 0)
    return;
  config->stderr_device = status.st_dev;
  config->stderr_inode = status.st_ino;
}

static bool stderr_is_unchanged(const struct config *config) {
  struct stat status;
  return sys_fstat(2, &status) == 0 && status.st_dev == config->stderr_device &&
         status.st_ino == config->stderr_inode;
}

static struct iovec part(const char *string) {
  return (struct iovec){.iov_base = (char *)(uintptr_t)string, .iov_len = string_size(string)};
}

void frontload_warn(const struct config *config, const char *thing, const char *what, long error,
                    const char *outcome) {
  if (!stderr_is_unchanged(config))
    return;
  char buffer[32];
  struct text number = text_in(buffer, sizeof buffer);
  const char *reason = error ? error_text(-error) : "";
  if (!reason) {
    text_add(&number, "errno ");
    text_add_number(&number, (uint32_t)-error);
    reason = buffer;
  }
  const struct iovec line[] = {
      part("frontload-rt: warning: "),
      part(thing),
      part(": "),
      part(what),
      part(error ? ": " : ""),
      part(reason),
      part(" ("),
      part(outcome),
      part(")\n"),
  };

  /* If the reader has gone, or the file may not grow, a signal would end the program. The caller
   * has blocked these signals. */
  signal_set pending = sys_pending_signals();
  SYS(writev, 2, line, sizeof line / sizeof *line);
  sys_discard_signal(SIGNAL_BIT(SIGPIPE) & ~pending);
  sys_discard_signal(SIGNAL_BIT(SIGXFSZ) & ~pending);
}
