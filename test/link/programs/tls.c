// Thread-local data with and without initial values, from both sides.
#include <pthread.h>
#include <stdio.h>

__thread int hot_tls = 5;
static __thread char cold_tls[200];
_Thread_local long zero_tls;

__attribute__((noinline)) int cold_bump(int n) {
  cold_tls[n] = n;
  zero_tls += cold_tls[n];
  return ++hot_tls;
}

__attribute__((noinline)) void *hot_1_work(void *argument) {
  int n = *(int *)argument;
  for (int i = 0; i < n; ++i)
    cold_bump(i);
  return (void *)(hot_tls * 1000 + zero_tls);
}

int main(void) {
  pthread_t thread;
  int n = 10;
  void *result;
  if (pthread_create(&thread, 0, hot_1_work, &n) || pthread_join(thread, &result))
    return 1;
  printf("%ld %d %ld\n", (long)result, cold_bump(3), zero_tls);
  return 0;
}
