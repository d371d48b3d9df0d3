/* A program of 30,000 functions, more than one chunk of a trace holds. It calls them in order.
 *
 * usage: many [threads | quiet | replace TRACE | deny | kill | descriptors | user]
 *   threads      calls them in two threads, every other one in each
 *   quiet        closes descriptors 0, 1 and 2 in the middle
 *   replace      renames the trace in the middle and puts another file in its place
 *   deny         forbids itself in the middle to open files
 *   kill         has itself killed if it opens a file after the middle
 *   descriptors  takes away its right to have more than three in the middle
 *   user         becomes another user in the middle
 * At the end it prints how many descriptors are open.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define F(n)                                                                                       \
  static void f##n(void) {}
#define F10(n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define F100(n)                                                                                    \
  F10(n##0)                                                                                        \
  F10(n##1) F10(n##2) F10(n##3) F10(n##4) F10(n##5) F10(n##6) F10(n##7) F10(n##8) F10(n##9)
#define F1000(n)                                                                                   \
  F100(n##0)                                                                                       \
  F100(n##1) F100(n##2) F100(n##3) F100(n##4) F100(n##5) F100(n##6) F100(n##7) F100(n##8) F100(n##9)
#define F10000(n)                                                                                  \
  F1000(n##0)                                                                                      \
  F1000(n##1)                                                                                      \
  F1000(n##2) F1000(n##3) F1000(n##4) F1000(n##5) F1000(n##6) F1000(n##7) F1000(n##8) F1000(n##9)
F10000(1)
F10000(2)
F10000(3)
#undef F
#define F(n) f##n,
static void (*const functions[])(void) = {F10000(1) F10000(2) F10000(3)};
enum { COUNT = sizeof functions / sizeof *functions };

#define NOT_RECORDED __attribute__((no_instrument_function))

NOT_RECORDED static void replace(const char *trace) {
  char moved[4096];
  snprintf(moved, sizeof moved, "%s.moved", trace);
  rename(trace, moved);
  int fd = open(trace, O_WRONLY | O_CREAT, 0644);
  if (write(fd, "mine", 4) == 4)
    close(fd);
}

NOT_RECORDED static void filter_open(unsigned action) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

NOT_RECORDED static void allow_three_descriptors(void) {
  struct rlimit limit = {3, 3};
  setrlimit(RLIMIT_NOFILE, &limit);
}

NOT_RECORDED static void become_another_user(void) {
  if (setreuid(65534, 65534))
    _exit(77);
}

NOT_RECORDED static void *every_other(void *first) {
  for (int i = first ? 1 : 0; i < COUNT; i += 2)
    functions[i]();
  return NULL;
}

NOT_RECORDED static int in_threads(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, every_other, ""))
    return 1;
  every_other(NULL);
  return pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "threads") == 0)
    return in_threads();
  for (int i = 0; i < COUNT / 100; ++i)
    functions[i]();
  if (strcmp(mode, "quiet") == 0)
    for (int fd = 0; fd < 3; ++fd)
      close(fd);
  if (strcmp(mode, "replace") == 0)
    replace(argv[2]);
  if (strcmp(mode, "deny") == 0)
    filter_open(SECCOMP_RET_ERRNO | EPERM);
  if (strcmp(mode, "kill") == 0)
    filter_open(SECCOMP_RET_KILL_PROCESS);
  if (strcmp(mode, "descriptors") == 0)
    allow_three_descriptors();
  if (strcmp(mode, "user") == 0)
    become_another_user();
  for (int i = 0; i < COUNT; ++i)
    functions[i]();
  int open_descriptors = 0;
  for (int fd = 0; fd < 1000; ++fd)
    open_descriptors += fcntl(fd, F_GETFD) >= 0;
  printf("%d\n", open_descriptors);
  return 7;
}
