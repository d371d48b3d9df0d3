//===- masquerade.cpp - frontload-cc under the name of a compiler ----------===//

#include "cc/masquerade.h"
#include "cc/compiler.h"
#include "cc/program_search.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

bool isMasquerade(StringRef name) {
  name = sys::path::filename(name);
  return !name.contains("frontload-cc") && familyOf(name) != Family::Unknown;
}

bool isOurselves(StringRef program) {
  std::optional<std::string> found = findProgram(program);
  return found && sys::fs::equivalent(*found, sys::fs::getMainExecutable(nullptr, nullptr));
}

std::optional<Elsewhere> lookFurther(StringRef program) {
  StringRef name = sys::path::filename(program);
  std::string path = searchPath();
  SmallVector<StringRef, 16> others;
  std::optional<std::string> further;
  for (StringRef folder : foldersOf(path)) {
    std::optional<std::string> found = findIn(folder, name);
    if (found && isOurselves(*found))
      continue;
    others.push_back(folder);
    if (found && !further)
      further = *found;
  }
  return further ? std::optional(Elsewhere{*further, join(others, ":")}) : std::nullopt;
}

} // namespace frontload
