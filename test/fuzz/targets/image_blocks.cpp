// The blocks of a file in an image, as frontload predict writes them, and what reads there cost.
#include "cold_start/start_model.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef text) {
  auto image = readImageBlocks(text);
  if (!image)
    return consumeError(image.takeError());
  constexpr uint64_t size = 4 << 20;
  StartModel model(deviceProfiles().front(), size, FileSegment{0, 0, size, size, false}, &*image);
  for (uint64_t i = 0; i < 256; ++i)
    model.read(i * 37 % 1024 << 12);
  model.counts();
}
