/* in any order. Sixty-four threads that enter the same functions at the same time.

   exit 0
   process: f0 f1 f2 f3 f4 f5 f6 f7 f8 f9 main work */
#include <pthread.h>

#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9)
#define DEFINE(n)                                                                                  \
  static void f##n(void) {}
#define CALL(n) f##n();
EACH(DEFINE)

static pthread_barrier_t barrier;

static void *work(void *argument) {
  pthread_barrier_wait(&barrier);
  EACH(CALL)
  return argument;
}

int main(void) {
  pthread_t threads[64];
  pthread_barrier_init(&barrier, 0, 64);
  for (int i = 0; i < 64; ++i)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 64; ++i)
    pthread_join(threads[i], 0);
  return 0;
}
