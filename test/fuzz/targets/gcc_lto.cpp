// Whether an object or an archive is of gcc's -flto, which frontload-cc looks at without LLVM.
#include "cc/gcc_lto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  frontload::needsGccLto(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}
