// The sampler's reader of /proc/self/maps, in which whoever names files chooses what the paths are.
#include "sampler/mappings.c"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static struct mappings mappings;
  mappings.file_count = mappings.mapping_count = 0;
  mappings.text_size = size;
  mappings.text = malloc(size ? size : 1); // no byte more, and no zero at the end
  memcpy(mappings.text, data, size);
  parse_all(&mappings);
  if (mappings.file_count > MOST_FILES || mappings.mapping_count > MOST_MAPPINGS)
    abort();
  for (unsigned i = 0; i < mappings.mapping_count; ++i)
    if (mappings.mapping[i].file >= mappings.file_count)
      abort();
  for (unsigned i = 0; i < mappings.file_count; ++i) {
    const struct mapped_file *file = &mappings.file[i];
    const size_t at = (size_t)(file->path - mappings.text);
    if (at >= size || file->path_size > size - at || *file->path != '/' ||
        memchr(file->path, '\n', file->path_size))
      abort();
  }
  free(mappings.text);
  return 0;
}
