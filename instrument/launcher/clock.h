/* The clock of the launchers, which perf can use as well. */
#pragma once

#include <stdint.h>
#include <time.h>

#define NS_PER_MS INT64_C(1000000)

static inline int64_t ns_of(const struct timespec *time) {
  return time->tv_sec * INT64_C(1000000000) + time->tv_nsec;
}

static inline int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return ns_of(&now);
}
