// The reader of traces, of any module, and of the module that has a known path.
#include "predict/trace_reader.h"
#include "target.h"

using namespace frontload;
using namespace llvm;

static void readInput(StringRef bytes) {
  readRun(bytes);
  for (bool isAny : {true, false}) {
    auto wants = [&](StringRef path, StringRef) { return isAny || path.ends_with("program"); };
    auto touched = readTrace("input", bytes, wants);
    if (!touched)
      consumeError(touched.takeError());
    else
      must(touched->size() <= bytes.size() / 16); // an event has 16 bytes
  }
}
