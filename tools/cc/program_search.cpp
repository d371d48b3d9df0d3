//===- program_search.cpp - finds a program by its name --------------------===//

#include "cc/program_search.h"
#include "base/execute.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace llvm;

namespace frontload {

std::string searchPath() { return sys::Process::GetEnv("PATH").value_or(USUAL_FOLDERS); }

SmallVector<StringRef, 16> foldersOf(StringRef path) {
  SmallVector<StringRef, 16> folders;
  path.split(folders, ':');
  return folders;
}

std::optional<std::string> findIn(StringRef folder, StringRef name) {
  std::string path = ((folder.empty() ? "." : folder) + "/" + name).str();
  return sys::fs::can_execute(path) ? std::optional(path) : std::nullopt;
}

std::optional<std::string> findProgram(StringRef name) {
  if (name.contains('/'))
    return name.str();
  std::string path = searchPath();
  for (StringRef folder : foldersOf(path))
    if (std::optional<std::string> found = findIn(folder, name))
      return found;
  return std::nullopt;
}

} // namespace frontload
