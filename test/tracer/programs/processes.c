/* Ways to make processes and threads. The first argument says which; "leaf" is what is executed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP __attribute__((noinline)) void
#define WORK __asm__ volatile("")

static char *self;

STEP in_child(void) { WORK; }
STEP after(void) { WORK; }
STEP leaf(void) { WORK; }

static void finish(pid_t child) {
  int status;
  if (waitpid(child, &status, __WALL) != child || status != 0)
    exit(9);
  after();
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

static void do_clone(int flags) {
  static char stack[65536] __attribute__((aligned(16)));
  finish(clone(clone_body, stack + sizeof stack, flags | SIGCHLD, NULL));
  in_child();
}

/* As a thread has it, one memory; as a process has it, an id of its own and SIGCHLD. */
static void do_clone_vm(void) { do_clone(CLONE_VM); }

/* As vfork has it, the parent waits; as fork has it, a memory of its own. */
static void do_clone_vfork(void) { do_clone(CLONE_VFORK); }

#define TEN(F, n) F(n##0) F(n##1) F(n##2) F(n##3) F(n##4) F(n##5) F(n##6) F(n##7) F(n##8) F(n##9)
#define HUNDRED(F)                                                                                 \
  TEN(F, 0)                                                                                        \
  TEN(F, 1) TEN(F, 2) TEN(F, 3) TEN(F, 4) TEN(F, 5) TEN(F, 6) TEN(F, 7) TEN(F, 8) TEN(F, 9)
#define DEFINE(n)                                                                                  \
  STEP shared_##n(void) { WORK; }
#define NAME(n) shared_##n,
HUNDRED(DEFINE)
static void (*const shared[])(void) = {HUNDRED(NAME)};

static pthread_barrier_t barrier;

/* All threads run into the same breakpoints at the same time, and fork meanwhile. */
static void *work(void *unused) {
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 100; ++i) {
    pid_t child = i == 30 ? fork() : -1;
    if (child > 0)
      waitpid(child, NULL, 0);
    for (; child == 0 && i < 100; ++i)
      shared[i]();
    if (child == 0)
      _exit(0);
    shared[i]();
  }
  return unused;
}

/* The same functions, from another one on in each thread. */
static void *work_from(void *argument) {
  long first = (long)argument;
  printf("%d %ld\n", gettid(), first);
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 100; ++i)
    shared[(first + i) % 100]();
  return NULL;
}

static void run_threads(int count, void *(*body)(void *), void *argument, long step) {
  pthread_t threads[16];
  pthread_barrier_init(&barrier, NULL, count);
  for (long i = 0; i < count; ++i)
    pthread_create(&threads[i], NULL, body, (char *)argument + i * step);
  for (int i = 0; i < count; ++i)
    pthread_join(threads[i], NULL);
}

static void do_threads_fork(void) {
  run_threads(8, work, NULL, 0);
  after();
}

static void do_threads_apart(void) { run_threads(10, work_from, NULL, 10); }

/* The first thread ends before the others. */
static void do_leader_exit(void) {
  pthread_t thread;
  pthread_barrier_init(&barrier, NULL, 1);
  pthread_create(&thread, NULL, work_from, NULL);
  pthread_exit(NULL);
}

static const struct {
  const char *what;
  void (*run)(void);
} ways[] = {
    {"leaf", leaf},
    {"silent-fork", do_silent_fork},
    {"vfork", do_vfork},
    {"thread-exec", do_thread_exec},
    {"clone-vm", do_clone_vm},
    {"clone-vfork", do_clone_vfork},
    {"threads-fork", do_threads_fork},
    {"threads-apart", do_threads_apart},
    {"leader-exit", do_leader_exit},
};

int main(int argc, char **argv) {
  self = argv[0];
  for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; ++i)
    if (!strcmp(argv[1], ways[i].what)) {
      ways[i].run();
      return 0;
    }
  return 7;
}
