// Thread-local data in all models, of the program and of its library, aligned and not, with initial
// values and zero, in several threads.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define MODEL(name) __attribute__((tls_model(name)))
__thread int general MODEL("global-dynamic") = 1;
static __thread int local_one MODEL("local-dynamic") = 2, local_two MODEL("local-dynamic");
__thread int initial MODEL("initial-exec") = 3;
#ifdef LOCAL_EXEC
static __thread int exec MODEL("local-exec") = 4;
#else
static __thread int exec = 4;
#endif
static __thread char small = 5;
static __thread struct { _Alignas(64) char bytes[100]; } aligned = {{6}};
static __thread long zeros[300];
extern __thread int library_general, library_initial;
int *library_own(int i);
int library_sum(void);

__attribute__((noinline)) int *of_general(void) { return &general; }
__attribute__((noinline)) int *of_local(int i) { return i ? &local_one : &local_two; }
__attribute__((noinline)) int *of_initial(void) { return &initial; }
__attribute__((noinline)) int *of_exec(void) { return &exec; }

static void *work(void *argument) {
  int n = (int)(intptr_t)argument;
  *of_general() += n, *of_local(0) += n, *of_local(1) += n, *of_initial() += n, *of_exec() += n;
  small += n, aligned.bytes[9] += n, zeros[n] += n;
  library_general += n, library_initial += n, *library_own(0) += n, *library_own(1) += n;
  long sum = general + local_one * 10L + local_two * 100 + initial * 1000 + exec * 10000 +
             small * 100000 + (aligned.bytes[0] + aligned.bytes[9]) * 1000000L +
             ((uintptr_t)&aligned % 64 == 0) * 100000000L + zeros[n] * 1000000000L;
  return (void *)(sum * 1000 + library_sum());
}

int main(void) {
  pthread_t threads[3];
  for (intptr_t i = 0; i < 3; ++i)
    if (pthread_create(&threads[i], 0, work, (void *)(i + 1)))
      return 1;
  for (int i = 0; i < 3; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    printf("%ld\n", (long)result);
  }
  printf("%ld %ld\n", (long)work((void *)4), (long)work((void *)4));
}
