/* Prefetches the front of the starting program before it is relocated, and the ranges of the
 * prefetch list beside it, or what was learnt of its starts, if that list says so.
 *
 * resolver.c calls frontload_prefetch_own_front(), or before_main.c, which also waits for the
 * child.
 */
#include "apart.h"
#include "base/system_calls.h"
#include "base/text.h"
#include "front.h"
#include "learnt_list.h"
#include "prefetch_list.h"

#include <elf.h>
#include <stdbool.h>

/* Only in the shared library: in a small static program, the code for lists would cost as much to
 * read as its front. */
#pragma weak prefetch_list_is_resident
#pragma weak prefetch_list_learns
#pragma weak prefetch_list_ask_within_limits
#pragma weak find_command
#pragma weak find_learnt_list
#pragma weak look_at_learnt_list
#pragma weak learnt_list_obstacle
/* A static program may lack the constructor. */
#pragma weak frontload_prefetch_before_main

enum { MAX_ENVIRONMENT = 128 << 10, MAX_VARIABLES = 2048 };

/* The environment, which the dynamic linker does not hand on. */
struct environment {
  char text[MAX_ENVIRONMENT];
  char *variables[MAX_VARIABLES];
};

/* In memory of its own, or NULL. */
static struct environment *read_environment(void) {
  struct environment *environment = sys_map_memory(sizeof *environment);
  const int fd = sys_open("/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
  long size = -1, count = 0;
  if (fd >= 0 && !is_error(environment))
    size = sys_read(fd, environment->text, MAX_ENVIRONMENT);
  if (fd >= 0)
    sys_close(fd);
  for (long at = 0; at < size && count < MAX_VARIABLES - 1; ++at) {
    environment->variables[count++] = environment->text + at;
    while (at < size && environment->text[at])
      ++at;
  }
  if (size >= 0 && size < MAX_ENVIRONMENT && count < MAX_VARIABLES - 1)
    return environment;
  if (!is_error(environment))
    sys_unmap(environment, sizeof *environment);
  return NULL;
}

/* What is done with lists at a start. */
struct lists {
  char beside[PATH_MAX]; /* the program, with ".files" behind it */
  char *suffix;
  uint32_t process;
  bool is_apart;                   /* in a process of its own */
  struct environment *environment; /* of a program that learns, unless it is too large */
  struct learnt_list list;
  enum learnt learnt;
};

/* Looks at what was learnt of the program. */
static void look(struct lists *lists) {
  lists->environment = read_environment();
  *lists->suffix = 0;
  if (lists->environment &&
      find_learnt_list(&lists->list, lists->beside, lists->environment->variables))
    lists->learnt = look_at_learnt_list(&lists->list);
  *lists->suffix = '.';
}

/* Becomes frontload-run, which watches the program's start. */
static void watch(struct lists *lists) {
  char watcher[PATH_MAX], buffer[32], **variables = lists->environment->variables;
  char *words[] = {watcher, buffer, lists->beside, NULL};
  struct text option = text_in(buffer, sizeof buffer);
  text_add(&option, "--watch=");
  text_add_number(&option, lists->process);
  *lists->suffix = 0;
  if (find_command("frontload-run", value_of(variables, "PATH="), watcher) && *watcher == '/')
    SYS(execve, watcher, words, variables);
}

/* Asks for what was learnt, or while nothing was, for the list beside the program. */
static void ask(void *argument) {
  struct lists *lists = argument;
  if (!lists->environment && prefetch_list_learns(lists->beside))
    look(lists);
  if (lists->learnt == TO_ASK_FOR || lists->learnt == NOT_LEARNT)
    prefetch_list_ask_within_limits(lists->learnt == TO_ASK_FOR ? lists->list.path : lists->beside,
                                    NULL, lists->is_apart, NULL);
  if (lists->environment && lists->is_apart)
    watch(lists);
}

/* If the list beside the program says that it learns, what was learnt is better. */
static void prefetch_lists(void) {
  struct lists lists;
  if (!prefetch_list_is_resident)
    return;
  struct text name = text_in(lists.beside, sizeof lists.beside);
  const long size = sys_readlink("/proc/self/exe", lists.beside, sizeof lists.beside - 1);
  if (size <= 0)
    return;
  text_cut(&name, (size_t)size);
  lists.suffix = lists.beside + size;
  text_add(&name, ".files");
  if (name.overflow)
    return;
  lists.environment = NULL;
  lists.learnt = NOT_LEARNT;
  bool learns = false;
  int resident = prefetch_list_is_resident(lists.beside, &learns);
  if (learns) {
    look(&lists);
    /* Without a list, it is to be learnt; where it cannot be, the one beside the program counts. */
    resident =
        lists.learnt == LEARNT ? 1
        : lists.learnt == NOT_LEARNT && (!lists.environment || learnt_list_obstacle(&lists.list))
            ? prefetch_list_is_resident(lists.beside, NULL)
            : 0;
  }
  lists.process = sys_getpid();
  lists.is_apart = true;
  if (resident == 0 && !run_apart("frontload-list", false, ask, &lists)) {
    lists.is_apart = false;
    ask(&lists);
  }
  if (lists.environment)
    sys_unmap(lists.environment, sizeof *lists.environment);
}

/* Whether the kernel runs this program with rights that its caller lacks: set-user-id, or file
 * capabilities, which no user id shows. True also if the auxiliary vector does not tell. */
static bool is_privileged(void) {
  enum { GET_AUXILIARY = 0x41555856 }; /* PR_GET_AUXV of linux/prctl.h, since Linux 6.4 */
  Elf64_auxv_t vector[64];
  /* Tried first: opening a file in /proc takes 30 us. */
  long size = SYS(prctl, GET_AUXILIARY, vector, sizeof vector);
  if (size <= 0) {
    const int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
      return true;
    size = sys_read(fd, vector, sizeof vector);
    sys_close(fd);
  }
  if (size > (long)sizeof vector)
    size = (long)sizeof vector;
  for (long i = 0; i < size / (long)sizeof *vector; ++i)
    if (vector[i].a_type == AT_SECURE)
      return vector[i].a_un.a_val != 0;
  return true;
}

static void ask_for_tail(void *program) {
  prefetch_tail("/proc/self/exe", (uint32_t)(uintptr_t)program);
}

/* The child that makes the process for the tail. It ends while the program is relocated. */
static long tail_child;

void frontload_prefetch_end_start(void) {
  end_start_beside(tail_child);
  tail_child = 0;
}

static void prefetch_program(void) {
  if (is_privileged())
    return;
  int fd = sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return;
  struct front front;
  const bool asks = prefetch_front(fd, &front) == 0 && front.misses_tail;
  sys_close(fd);
  if (asks)
    tail_child = start_beside("frontload-tail", ask_for_tail, (void *)(uintptr_t)sys_getpid());
  prefetch_lists();
}

void frontload_prefetch_own_front(void) {
  static bool was_called; /* GNU ld for AArch64 has the resolver called twice */
  if (was_called)
    return;
  was_called = true;
  prefetch_program();
  if (!frontload_prefetch_before_main)
    frontload_prefetch_end_start();
}
