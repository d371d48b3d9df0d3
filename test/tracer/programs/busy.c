/* A server under load: threads that call ninety functions again and again, in no order, while the
 * first one forks. A child that fails is said. Once its input has a byte, it enters other functions
 * as well, and ends at the end of its input. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define F(n) __attribute__((noinline)) int busy_##n(int x) { __asm__ volatile(""); return x + n; }
#define X10(m, n) m(n##0) m(n##1) m(n##2) m(n##3) m(n##4) m(n##5) m(n##6) m(n##7) m(n##8) m(n##9)
#define X90(m) X10(m, 1) X10(m, 2) X10(m, 3) X10(m, 4) X10(m, 5) X10(m, 6) X10(m, 7) X10(m, 8) \
  X10(m, 9)
#define POINTER(n) busy_##n,
X90(F)
static int (*volatile functions[])(int) = {X90(POINTER)};

__attribute__((noinline)) void at_the_beginning(void) { __asm__ volatile(""); }
__attribute__((noinline)) void later(void) { __asm__ volatile(""); }
__attribute__((noinline)) void latest(void) { __asm__ volatile(""); }

static void *work(void *seed) {
  for (unsigned x = (unsigned)(long)seed;;) {
    x = x * 1103515245 + 12345;
    functions[(x >> 16) % 90](1);
    if ((x >> 16) % 4096 == 0)
      usleep(10);
  }
  return seed;
}

int main(void) {
  pthread_t thread;
  at_the_beginning();
  for (long i = 1; i <= 4; ++i)
    pthread_create(&thread, NULL, work, (void *)i);
  puts("ready");
  fflush(stdout);
  for (;;) {
    int status;
    pid_t child = fork();
    if (child == 0)
      _exit(functions[5](0) == 15 ? 0 : 1);
    if (waitpid(child, &status, 0) != child || status != 0) {
      printf("a child failed: %x\n", status);
      return 9;
    }
    struct pollfd input = {.fd = 0, .events = POLLIN};
    char byte;
    if (poll(&input, 1, 0) == 1) {
      if (read(0, &byte, 1) != 1)
        return 3;
      later();
      latest();
      puts("later");
      fflush(stdout);
    }
  }
}
