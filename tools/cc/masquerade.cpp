//===- masquerade.cpp - frontload-cc under the name of a compiler ----------===//

#include "cc/masquerade.h"
#include "cc/compiler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace llvm;

namespace frontload {

bool isMasquerade(StringRef name) {
  name = sys::path::filename(name);
  return !name.contains("frontload-cc") && familyOf(name) != Family::Unknown;
}

bool isOurselves(StringRef program) {
  ErrorOr<std::string> found = sys::findProgramByName(program);
  return found && sys::fs::equivalent(*found, sys::fs::getMainExecutable(nullptr, nullptr));
}

std::optional<Elsewhere> lookFurther(StringRef program) {
  StringRef name = sys::path::filename(program);
  std::string path = sys::Process::GetEnv("PATH").value_or("");
  SmallVector<StringRef, 16> folders, others;
  StringRef(path).split(folders, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::optional<std::string> further;
  for (StringRef folder : folders) {
    ErrorOr<std::string> found = sys::findProgramByName(name, {folder});
    if (found && isOurselves(*found))
      continue;
    others.push_back(folder);
    if (found && !further)
      further = *found;
  }
  return further ? std::optional(Elsewhere{*further, join(others, ":")}) : std::nullopt;
}

} // namespace frontload
