/* Threads, one after the other: each has the functions that it was the first to enter.

   exit 0
   process: main first_thread@2 shared@2 second_thread@3 only_in_second@3 */
#include <pthread.h>

static void shared(void) {}

static void only_in_second(void) {}

static void *first_thread(void *argument) {
  shared();
  return argument;
}

static void *second_thread(void *argument) {
  shared();
  only_in_second();
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, first_thread, 0);
  pthread_join(thread, 0);
  pthread_create(&thread, 0, second_thread, 0);
  pthread_join(thread, 0);
  return 0;
}
