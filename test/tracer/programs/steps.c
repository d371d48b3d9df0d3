/* A hundred functions, then a word to whoever watches, then a wait, then a hundred more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define A(n) __attribute__((noinline)) void early_##n(void) { __asm__ volatile(""); }
#define B(n) __attribute__((noinline)) void late_##n(void) { __asm__ volatile(""); }
#define X10(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define X100(m) X10(m, 0) X10(m, 1) X10(m, 2) X10(m, 3) X10(m, 4) X10(m, 5) X10(m, 6) X10(m, 7) \
  X10(m, 8) X10(m, 9)
#define CALL_A(n) early_##n();
#define CALL_B(n) late_##n();
X100(A)
X100(B)

__attribute__((noinline)) void startup_is_over(void) { __asm__ volatile(""); }

static void *late(void *unused) {
  char byte;
  while (read(0, &byte, 1) == 1 && byte != 'x')
    ;
  X100(CALL_B)
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[4];
  pid_t child = 0;
  X100(CALL_A)
  if (argc > 1 && !strcmp(argv[1], "fork"))
    child = fork();
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, late, NULL);
  if (argc > 1 && (strcmp(argv[1], "fork") || child != 0))
    startup_is_over();
  puts("ready");
  fflush(stdout);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  if (child > 0 && (waitpid(child, &argc, 0) != child || argc != 5 << 8))
    return 9;
  puts("gone on");
  return 5;
}
