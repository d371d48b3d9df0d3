// Linker scripts among the inputs of a link: whether one decides the layout, or assigns a symbol.
#include "plan/other_script.h"

using namespace frontload;
using namespace llvm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef script(reinterpret_cast<const char *>(data), size);
  decidesLayout(script);
  assigns(script, "_end");
  return 0;
}
