//===- program_search.h - finds a program by its name ----------------------===//
//
// frontload-cc examines a program before it becomes it, so it has to find exactly what
// base/execute.h will execute. LLVM's own search passes over the current folder, which an empty
// name in PATH stands for, and finds nothing without PATH.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_PROGRAM_SEARCH_H
#define FRONTLOAD_TOOLS_CC_PROGRAM_SEARCH_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

/// PATH, or the usual folders without it.
std::string searchPath();

/// The folders in such a path; an empty one is the current folder.
llvm::SmallVector<llvm::StringRef, 16> foldersOf(llvm::StringRef path);

/// The path of a program in a folder, with a slash.
std::optional<std::string> findIn(llvm::StringRef folder, llvm::StringRef name);

/// The path of the program that `name` calls, or the name itself if it has a slash.
std::optional<std::string> findProgram(llvm::StringRef name);

} // namespace frontload

#endif
