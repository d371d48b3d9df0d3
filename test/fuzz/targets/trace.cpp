// The reader of traces, of any module, and of the module that has a known path.
#include "predict/trace_file.h"

using namespace frontload;
using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef bytes(reinterpret_cast<const char *>(data), size);
  readRun(bytes);
  for (bool isAny : {true, false}) {
    auto wants = [&](StringRef path, StringRef) { return isAny || path.ends_with("program"); };
    auto touched = readTrace("input", bytes, wants);
    if (!touched)
      consumeError(touched.takeError());
    else if (touched->size() > size / 16)
      abort(); // an event has 16 bytes
  }
  return 0;
}
