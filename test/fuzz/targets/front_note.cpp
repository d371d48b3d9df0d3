// The note of a front as the prefetch reads it, which has no libc; and what it and the prediction
// find in the same file must be the same.
#include "cold_start/prefetched_ranges.h"
#include "input_file.h"
#include "llvm/ADT/STLExtras.h"
extern "C" {
#include "prefetch/front.h"
#include "prefetch/ranges.h"
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int fd = inputFile(data, size);
  front front;
  prefetch_front(fd, &front);

  elf_start start;
  ranges found;
  if (elf_start_read(fd, &start) != 0)
    return 0;
  find_ranges(fd, &start, &found);
  for (unsigned i = 0; i < found.count; ++i)
    if (found.range[i].begin >= found.range[i].end || found.range[i].end > size)
      abort();

  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  auto segments = frontload::readSegments(bytes);
  if (!segments) { // what nobody would load may still have a front
    llvm::consumeError(segments.takeError());
    return 0;
  }
  std::vector<frontload::FileRange> predicted = frontload::frontRanges({bytes, *segments});
  if (found.count && !predicted.empty() &&
      !llvm::equal(
          llvm::ArrayRef(found.range, found.count), predicted,
          [](range a, frontload::FileRange b) { return a.begin == b.begin && a.end == b.end; }))
    abort();
  return 0;
}
