/* Says its number, and each signal that it gets, with the value that came along, until its input
 * ends. With the argument "daemon" it is a process that has outlived the command. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void tell(int signal, siginfo_t *info, void *context) {
  char text[64];
  int length = snprintf(text, sizeof text, "%d %d\n", signal,
                        info->si_code == SI_QUEUE ? info->si_value.sival_int : 0);
  (void)context;
  if (write(1, text, length) != length)
    _exit(9);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "daemon") && (fork() || setsid() < 0))
    _exit(4);
  struct sigaction action = {.sa_sigaction = tell, .sa_flags = SA_SIGINFO};
  sigfillset(&action.sa_mask);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (signal != SIGTRAP && signal != SIGCHLD)
      sigaction(signal, &action, NULL);
  printf("%d\n", getpid());
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) == 1 || errno == EINTR)
    errno = 0;
  return 0;
}
