// The reader of /proc/self/cgroup, which is part of every prefetch: a container chooses the names
// of its control groups. Nothing below the mount exists, so nothing there says a limit.
#include "base/memory_limit.h"

#include "input_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (memory_left(inputPath(data, size), "/proc/self/fd/none", 1 << 20) != UINT64_MAX)
    abort();
  return 0;
}
