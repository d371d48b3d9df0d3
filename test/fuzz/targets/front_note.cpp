// The note of a front as the prefetch reads it, which has no libc; and what it and the prediction
// find in the same file must be the same.
#include "cold_start/program_loading.h"
#include "input_file.h"
#include "target.h"
#include "llvm/ADT/STLExtras.h"
extern "C" {
#include "prefetch/front.h"
}

static void readInput(llvm::StringRef bytes) {
  int fd = inputFile(bytes.bytes_begin(), bytes.size());
  front front;
  prefetch_front(fd, &front);

  elf_start start;
  ranges found;
  if (elf_start_read(fd, &start) != 0)
    return;
  find_ranges(fd, &start, &found);
  for (unsigned i = 0; i < found.count; ++i)
    must(found.range[i].begin < found.range[i].end && found.range[i].end <= bytes.size());

  auto segments = frontload::readSegments(bytes);
  if (!segments) // what nobody would load may still have a front
    return llvm::consumeError(segments.takeError());
  frontload::AskedRanges predicted = frontload::frontRanges({bytes, *segments});
  auto isSame = [](range a, frontload::FileRange b) {
    return a.begin == b.begin && a.end == b.end;
  };
  const llvm::ArrayRef all(found.range, found.count);
  must(!found.count || predicted.front.empty() ||
       (llvm::equal(all.take_front(found.of_front), predicted.front, isSame) &&
        llvm::equal(all.drop_front(found.of_front), predicted.tail, isSame)));
}
