// What LLVM reads of a file, where a damaged part counts as an empty one. C++, for the readers of
// formats that are linked with LLVM.
#pragma once

#include "llvm/Support/Error.h"

namespace frontload {

template <class T> T orEmpty(llvm::Expected<T> read) {
  if (read)
    return std::move(*read);
  llvm::consumeError(read.takeError());
  return T();
}

} // namespace frontload
