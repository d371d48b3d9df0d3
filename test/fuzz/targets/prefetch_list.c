// The reader of prefetch lists, which has no libc, and asks for what they name.
#include "prefetch/prefetch_list.h"

#include "input_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *path = inputPath(data, size);
  struct asked asked;
  bool learns;
  prefetch_list_is_resident(path, size % 2 ? &learns : NULL);
  if (prefetch_list_ask(path, device_kind_named("ssd"), 1 << 20, size % 2, &asked) == 0 &&
      asked.bytes > 1 << 20)
    abort(); // more than it may
  return 0;
}
