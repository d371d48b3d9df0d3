/* Asks for a list within the limits of memory, in a process of its own. See prefetch_list.h. */
#include "apart.h"
#include "base/memory_limit.h"
#include "base/system_calls.h"
#include "base/text.h"
#include "prefetch_list.h"

/* The most bytes that a list may ask for. */
static const uint64_t MAX_BYTES = 512 << 20;

/* A list gets one part in two of the memory that limits leave, as a front does (front.c). */
enum { MEMORY_SHARE = 2 };

/* Whether some task waited for memory in at least a tenth of the last ten seconds, by the kernel's
 * "some avg10=12.34 ..." (Documentation/accounting/psi.rst). False without that file. */
static bool memory_is_short(void) {
  static const unsigned char start[] = "some avg10=";
  const size_t size = sizeof start - 1;
  unsigned char text[sizeof start + 2]; /* with the first digits */
  int fd = sys_open("/proc/pressure/memory", O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  const long read = sys_read(fd, text, size + 2);
  sys_close(fd);
  /* 10 and more have two digits before the point. */
  return read == (long)size + 2 && same_bytes(text, start, size) && text[size + 1] != '.';
}

void prefetch_list_ask_within_limits(const char *path, const struct device_kind *device,
                                     bool may_count,
                                     void (*describe)(int error, const struct asked *)) {
  struct asked asked;
  const uint64_t left =
      memory_left(PROCESS_CGROUPS, CGROUP_MOUNT, MEMORY_SHARE * MAX_BYTES) / MEMORY_SHARE;
  const uint64_t budget = memory_is_short() ? 0 : left;
  const int error =
      prefetch_list_ask(path, device, budget < MAX_BYTES ? budget : MAX_BYTES, may_count, &asked);
  if (describe)
    describe(error, &asked);
}

struct question {
  const char *path;
  const struct device_kind *device;
  void (*describe)(int error, const struct asked *);
};

static void ask_and_count(void *argument) {
  const struct question *question = argument;
  prefetch_list_ask_within_limits(question->path, question->device, true, question->describe);
}

void prefetch_list_ask_apart(const char *path, const struct device_kind *device,
                             void (*describe)(int error, const struct asked *)) {
  struct question question = {path, device, describe};
  if (!run_apart("frontload-list", describe != NULL, ask_and_count, &question))
    prefetch_list_ask_within_limits(path, device, false, describe);
}
