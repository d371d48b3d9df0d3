//===- own_files.cpp - files that were built or installed with ld.frontload ===//

#include "program/own_files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

Expected<std::string> findOwnLibrary(StringRef name) {
  std::string self = sys::fs::getMainExecutable(nullptr, nullptr);
  StringRef prefix = sys::path::parent_path(sys::path::parent_path(self));
  SmallString<128> path;
  // An installation has all libraries in its private folder, as files or as links, so that it can
  // be moved; a build has them beside each other.
  for (StringRef folder : {"lib", "lib/frontload"}) {
    path = prefix;
    sys::path::append(path, folder, name);
    if (sys::fs::exists(path))
      return path.str().str();
  }
  return createStringError(path + ": " +
                           make_error_code(std::errc::no_such_file_or_directory).message());
}

} // namespace frontload
