// Whether an object or an archive is of gcc's -flto, which frontload-cc looks at without LLVM.
#include "cc/gcc_lto.h"
#include "target.h"

static void readInput(llvm::StringRef bytes) {
  frontload::needsGccLto(bytes, [](llvm::StringRef path) { return path.ends_with(".slim"); });
}
