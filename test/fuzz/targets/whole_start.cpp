// The files of a start, as frontload predict writes them, and what they cost.
#include "predict/whole_start.h"

using namespace frontload;
using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto files = readWholeStart(StringRef(reinterpret_cast<const char *>(data), size));
  if (!files) {
    consumeError(files.takeError());
    return 0;
  }
  for (const FileOfStart &file : *files)
    costsOf(file, deviceProfiles().front());
  return 0;
}
