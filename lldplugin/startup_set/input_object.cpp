//===- input_object.cpp - an object as a linker hands it over --------------===//

#include "startup_set/input_object.h"
#include "llvm/Support/Path.h"
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace frontload {

std::string InputObject::name() const {
  StringRef file = sys::path::filename(buffer.getBufferIdentifier());
  if (archive.empty())
    return file.str();
  return (sys::path::filename(archive) + "(" + file + ")").str();
}

void InputObject::letGo() const {
  if (!isMapped)
    return;
  auto begin = reinterpret_cast<uintptr_t>(buffer.getBufferStart());
  auto pageSize = uintptr_t(getpagesize());
  uintptr_t first = (begin + pageSize - 1) / pageSize * pageSize;
  uintptr_t last = (begin + buffer.getBufferSize()) / pageSize * pageSize;
  if (first < last)
    madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
}

} // namespace frontload
