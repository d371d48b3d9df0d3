/* Ways to make processes and threads. The first argument says which; "leaf" is what is executed. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP __attribute__((noinline)) void
#define WORK __asm__ volatile("")

extern char **environ;
static char *self;

STEP before(void) { WORK; }
STEP in_parent(void) { WORK; }
STEP in_child(void) { WORK; }
STEP in_grandchild(void) { WORK; }
STEP in_both(void) { WORK; }
STEP after(void) { WORK; }
STEP leaf(void) { WORK; }

static void finish(pid_t child) {
  int status;
  if (waitpid(child, &status, __WALL) != child || status != 0)
    exit(9);
  after();
}

static void do_fork(void) {
  pid_t child = fork();
  if (child == 0) {
    before();
    in_child();
    in_both();
    if (fork() == 0) {
      in_child();
      in_grandchild();
      _exit(0);
    }
    wait(NULL);
    _exit(0);
  }
  finish(child);
  in_parent();
  in_both();
}

static void do_silent_fork(void) {
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  finish(child);
}

static void do_vfork(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/nonexistent/program", "program", NULL);
    in_child();
    execl(self, self, "leaf", NULL);
    _exit(8);
  }
  finish(child);
}

static void do_spawn(void) {
  pid_t child;
  char *arguments[] = {self, "leaf", NULL};
  if (posix_spawn(&child, self, NULL, NULL, arguments, environ) != 0)
    exit(9);
  finish(child);
}

static void do_failed_spawn(void) {
  pid_t child;
  char *arguments[] = {"/nonexistent/program", NULL};
  before();
  if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != ENOENT)
    exit(9);
  after();
}

static void do_exec(void) {
  before();
  execl("/nonexistent/program", "program", NULL);
  after();
  execl(self, self, "leaf", NULL);
}

static void *exec_from_thread(void *unused) {
  in_child();
  execl(self, self, "leaf", NULL);
  return unused;
}

static void do_thread_exec(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, exec_from_thread, NULL);
  pthread_join(thread, NULL);
}

static int clone_body(void *unused) {
  (void)unused;
  in_child();
  return 0;
}

/* As a thread has it, one memory; as a process has it, an id of its own and SIGCHLD. */
static void do_clone_vm(void) {
  static char stack[65536] __attribute__((aligned(16)));
  finish(clone(clone_body, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL));
  in_child();
}

/* As vfork has it, the parent waits; as fork has it, a memory of its own. */
static void do_clone_vfork(void) {
  static char stack[65536] __attribute__((aligned(16)));
  finish(clone(clone_body, stack + sizeof stack, CLONE_VFORK | SIGCHLD, NULL));
  in_child();
}

static void do_daemon(void) {
  if (fork() != 0)
    _exit(4);
  setsid();
  usleep(100000);
  in_child();
}

#define S(n)                                                                                       \
  STEP shared_##n(void) { WORK; }
#define S10(n) S(n##0) S(n##1) S(n##2) S(n##3) S(n##4) S(n##5) S(n##6) S(n##7) S(n##8) S(n##9)
S10(0)
S10(1) S10(2) S10(3) S10(4) S10(5) S10(6) S10(7) S10(8) S10(9)
#define C(n) shared_##n();
#define C10(n) C(n##0) C(n##1) C(n##2) C(n##3) C(n##4) C(n##5) C(n##6) C(n##7) C(n##8) C(n##9)

    static pthread_barrier_t barrier;

/* All threads run into the same breakpoints at the same time, and fork meanwhile. */
static void *work(void *forks) {
  pthread_barrier_wait(&barrier);
  C10(0) C10(1) C10(2) if (forks) {
    pid_t child = fork();
    if (child == 0) {
      C10(3) C10(4) C10(5) C10(6) C10(7) C10(8) C10(9) _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  C10(3) C10(4) C10(5) C10(6) C10(7) C10(8) C10(9) return NULL;
}

static void do_threads(void *forks) {
  enum { count = 8 };
  pthread_t threads[count];
  pthread_barrier_init(&barrier, NULL, count);
  for (int i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, work, forks);
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
  after();
}

#define A(n) shared_##n,
#define A10(n) A(n##0) A(n##1) A(n##2) A(n##3) A(n##4) A(n##5) A(n##6) A(n##7) A(n##8) A(n##9)
static void (*const shared[])(void) = {A10(0) A10(1) A10(2) A10(3) A10(4) A10(5) A10(6) A10(7)
                                           A10(8) A10(9)};

/* The same functions, from another one on in each thread. */
static void *work_from(void *argument) {
  long first = (long)argument;
  printf("%d %ld\n", gettid(), first);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 100; ++i)
    shared[(first + i) % 100]();
  return NULL;
}

static void do_threads_apart(void) {
  enum { count = 10 };
  pthread_t threads[count];
  pthread_barrier_init(&barrier, NULL, count);
  for (long i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, work_from, (void *)(i * 10));
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
}

/* The first thread ends before the others. */
static void do_leader_exit(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 1);
  pthread_create(&thread, NULL, work, NULL);
  pthread_exit(NULL);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  self = argv[0];
  if (!strcmp(what, "leaf"))
    leaf();
  else if (!strcmp(what, "fork")) {
    before();
    do_fork();
  } else if (!strcmp(what, "silent-fork"))
    do_silent_fork();
  else if (!strcmp(what, "vfork"))
    do_vfork();
  else if (!strcmp(what, "spawn"))
    do_spawn();
  else if (!strcmp(what, "failed-spawn"))
    do_failed_spawn();
  else if (!strcmp(what, "exec"))
    do_exec();
  else if (!strcmp(what, "thread-exec"))
    do_thread_exec();
  else if (!strcmp(what, "clone-vm"))
    do_clone_vm();
  else if (!strcmp(what, "clone-vfork"))
    do_clone_vfork();
  else if (!strcmp(what, "daemon"))
    do_daemon();
  else if (!strcmp(what, "threads"))
    do_threads(NULL);
  else if (!strcmp(what, "threads-fork"))
    do_threads(&barrier);
  else if (!strcmp(what, "threads-apart"))
    do_threads_apart();
  else if (!strcmp(what, "leader-exit"))
    do_leader_exit();
  else
    return 7;
  return 0;
}
