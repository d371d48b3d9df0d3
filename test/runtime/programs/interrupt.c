/* Interrupts a program by SIGTRAP at a third of its instructions: in each stretch that begins with
 * SIGURG, three instructions later than in the one before. A stretch that ends by SIGWINCH before
 * that is not interrupted. The program sends both signals to itself, and does not get them. (The
 * runtime blocks other signals than SIGTRAP where it must not be interrupted.)
 *
 *   interrupt PROGRAM ARG...
 */
#include "../../step.h"

int main(int argc, char **argv) {
  long at = 1, left = 0; /* instructions */
  int status;
  (void)argc;
  pid_t child = start_stopped(argv + 1, &status);
  while (WIFSTOPPED(status)) {
    int signal = WSTOPSIG(status);
    if (signal == SIGTRAP) {
      signal = left > 0 && --left == 0 ? SIGTRAP : 0;
    } else if (signal == SIGURG) {
      left = at;
      at += 3;
      signal = 0;
    } else if (signal == SIGWINCH) {
      left = signal = 0;
    }
    status = left > 0 ? step(child, signal) : go_on(child, PTRACE_CONT, signal);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
