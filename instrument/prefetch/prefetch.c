/* frontload_prefetch(): the front of any file, for programs that open libraries themselves. */
#include "frontload_prefetch.h"

#include "front.h"

__attribute__((visibility("default"))) int frontload_prefetch(const char *path) {
  struct front front;
  return prefetch_path(path, &front);
}
