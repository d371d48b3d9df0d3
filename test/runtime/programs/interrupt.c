/* Interrupts a program by SIGTRAP once at each of the instructions between SIGURG and SIGWINCH,
 * which it sends itself again and again, and does not get. Where nothing is known to be left, it is
 * stepped through from one to the other, to find instructions that are new. Once there are none, it
 * gets SIGUSR1. (SIGTRAP, because the runtime blocks others where it must not be interrupted.)
 *
 *   interrupt PROGRAM ARG...
 */
#include "../../step.h"

enum { LIMIT = 4096 };
static unsigned long places[LIMIT]; /* instructions, in the order in which they were found */
static int found, interrupted;

static void find(unsigned long place) {
  for (int i = 0; i < found; ++i)
    if (places[i] == place)
      return;
  if (found < LIMIT)
    places[found++] = place;
}

static int stops_by(int status, int signal) {
  return WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

int main(int argc, char **argv) {
  int status, is_looking = 0;
  (void)argc;
  pid_t child = start_stopped(argv + 1, &status);
  status = go_on(child, PTRACE_CONT, 0);
  while (WIFSTOPPED(status)) {
    int signal = WSTOPSIG(status);
    if (signal == SIGURG) {
      is_looking = interrupted == found;
      if (is_looking)
        while (stops_by(status = step(child, 0), SIGTRAP))
          find(program_counter(child));
      else if (stops_by(status = run_to(child, places[interrupted++], 0, 0), SIGTRAP))
        status = go_on(child, PTRACE_CONT, SIGTRAP);
      continue;
    }
    if (signal == SIGWINCH)
      signal = is_looking && interrupted == found ? SIGUSR1 : 0;
    status = go_on(child, PTRACE_CONT, signal);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
