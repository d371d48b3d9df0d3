/* The signals that a wrapper hands on to the program that it runs.
 *
 * Users and service managers know only the process that they started, and send it the signals meant
 * for the program: SIGTERM, SIGUSR1 for new log files, SIGHUP for new settings. A signal not handed
 * on would end the wrapper, and with it the program.
 */
#pragma once

#include "system_calls.h"

#include <signal.h>
#include <stdbool.h>

/* All signals except those that cannot be caught, that report our own faults, children and writes,
 * and a terminal's job control. */
static inline void signals_to_hand_on(sigset_t *set) {
  static const int own[] = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS,  SIGILL,  SIGFPE,  SIGTRAP,
                            SIGSYS,  SIGCHLD, SIGPIPE, SIGXFSZ, SIGTSTP, SIGTTIN, SIGTTOU};
  sigfillset(set); /* all but libc's own */
  for (unsigned i = 0; i < sizeof own / sizeof *own; ++i)
    sigdelset(set, own[i]);
}

/* Whether the program gets the same signal without us. A terminal's signals (Ctrl-C) reach all
 * processes in its foreground, but its hangup only the session's first process. Limits of processor
 * time are each process's own. */
static inline bool reaches_the_program(const siginfo_t *info) {
  if (info->si_code <= 0) /* sent by a process, to us */
    return false;
  switch (info->si_signo) {
  case SIGHUP:
  case SIGCONT:
    return SYS(getsid, 0) != SYS(getpid);
  case SIGINT:
  case SIGQUIT:
  case SIGWINCH:
  case SIGXCPU:
    return true;
  default:
    return false;
  }
}

/* Sends the received signal, with the value that sigqueue(3) gave it. */
static inline void hand_on(pid_t process, const siginfo_t *info) {
  if (info->si_code != SI_QUEUE || SYS(rt_sigqueueinfo, process, info->si_signo, info) != 0)
    SYS(kill, process, info->si_signo);
}
