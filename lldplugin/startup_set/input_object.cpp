//===- input_object.cpp - an object as a linker hands it over --------------===//

#include "startup_set/input_object.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

std::string InputObject::name() const {
  StringRef file = sys::path::filename(buffer.getBufferIdentifier());
  if (archive.empty())
    return file.str();
  return (sys::path::filename(archive) + "(" + file + ")").str();
}

} // namespace frontload
