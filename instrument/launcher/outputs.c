/* Hands on a command's output. */
#include "ready.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Standard output and error output; a terminal is only the first. */
static struct Output {
  int ours, its;            /* the ends of the pipe, or of the terminal */
  char bytes[2 * MAX_TEXT]; /* the end of its output, which may begin the text */
  size_t kept;
} outputs[OUTPUTS] = {{.ours = -1, .its = -1}, {.ours = -1, .its = -1}};
static const char *wanted;
static bool is_terminal, was_said;

/* Opens a terminal of the same size as the user's, if there is one. */
static bool open_terminal(struct Output *output) {
  struct winsize size = {.ws_row = 24, .ws_col = 80};
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (ioctl(fd, TIOCGWINSZ, &size) == 0)
      break;
  char name[64];
  output->ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (output->ours < 0 || grantpt(output->ours) < 0 || unlockpt(output->ours) < 0 ||
      ptsname_r(output->ours, name, sizeof name) != 0)
    return false;
  output->its = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  return output->its >= 0 && ioctl(output->its, TIOCSWINSZ, &size) == 0;
}

static bool open_pipe(struct Output *output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0)
    return false;
  output->ours = ends[0];
  output->its = ends[1];
  return true;
}

bool outputs_begin(bool terminal, const char *text) {
  is_terminal = terminal;
  wanted = text;
  for (int i = 0; i < (terminal ? 1 : OUTPUTS); ++i)
    if (!(terminal ? open_terminal : open_pipe)(&outputs[i]) ||
        fcntl(outputs[i].ours, F_SETFL, O_NONBLOCK) < 0)
      return false;
  return true;
}

void outputs_enter(void) {
  if (outputs[0].its < 0)
    return;
  if (is_terminal) {
    setsid();
    ioctl(outputs[0].its, TIOCSCTTY, 0);
    dup2(outputs[0].its, STDIN_FILENO);
    const char *kind = getenv("TERM");
    if (!kind || !*kind || strcmp(kind, "dumb") == 0)
      setenv("TERM", "xterm-256color", 1);
  }
  for (int i = 0; i < OUTPUTS; ++i)
    dup2(outputs[is_terminal ? 0 : i].its, STDOUT_FILENO + i);
}

void outputs_started(void) {
  /* Our copies would hide that the last writer has gone. */
  for (int i = 0; i < OUTPUTS; ++i)
    if (outputs[i].its >= 0)
      close(outputs[i].its);
}

/* Ignores errors: it is not the command's fault if its output has no reader. */
static void write_all(int fd, const char *bytes, size_t size) {
  while (size > 0) {
    ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno != EINTR)
      return;
    bytes += written > 0 ? written : 0;
    size -= written > 0 ? (size_t)written : 0;
  }
}

static void hand_on(int which) {
  struct Output *output = &outputs[which];
  for (;;) {
    char *new_bytes = output->bytes + output->kept;
    ssize_t size = read(output->ours, new_bytes, MAX_TEXT);
    if (size <= 0)
      return;
    write_all(STDOUT_FILENO + which, new_bytes, (size_t)size);
    if (!wanted)
      continue;
    size_t all = output->kept + (size_t)size, length = strlen(wanted);
    was_said |= memmem(output->bytes, all, wanted, length) != NULL;
    output->kept = all < length ? all : length - 1;
    memmove(output->bytes, output->bytes + all - output->kept, output->kept);
  }
}

void outputs_wait(int other, int ms) {
  struct pollfd files[OUTPUTS + 1] = {[OUTPUTS] = {other, POLLIN, 0}};
  for (int i = 0; i < OUTPUTS; ++i)
    files[i] = (struct pollfd){.fd = outputs[i].ours, .events = POLLIN};
  poll(files, OUTPUTS + 1, ms);
  for (int i = 0; i < OUTPUTS; ++i) {
    if (outputs[i].ours < 0 || !files[i].revents)
      continue;
    hand_on(i);
    /* An output that has ended would be readable for ever. */
    if (!(files[i].revents & POLLIN)) {
      close(outputs[i].ours);
      outputs[i].ours = -1;
    }
  }
}

bool outputs_have_said(void) { return was_said; }

void outputs_end(void) {
  for (int i = 0; i < OUTPUTS; ++i)
    if (outputs[i].ours >= 0)
      hand_on(i);
}
