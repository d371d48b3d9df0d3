//===- program_search.h - where a program is that a name calls -------------===//
//
// frontload-cc asks who a program is before it becomes it. So it has to find what base/execute.h
// will execute, and nothing else. LLVM's own search passes over the current folder, which an empty
// name in PATH stands for, and finds nothing where there is no PATH.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_PROGRAM_SEARCH_H
#define FRONTLOAD_TOOLS_CC_PROGRAM_SEARCH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

/// PATH, or where programs are looked for without it.
std::string searchPath();

/// What such a path names; the empty one is the current folder.
llvm::SmallVector<llvm::StringRef, 16> foldersOf(llvm::StringRef path);

/// The path of a program in a folder, with a slash.
std::optional<std::string> findIn(llvm::StringRef folder, llvm::StringRef name);

/// The path of the program that `name` calls, or the name itself if it has a slash.
std::optional<std::string> findProgram(llvm::StringRef name);

} // namespace frontload

#endif
