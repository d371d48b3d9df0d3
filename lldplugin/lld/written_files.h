//===- written_files.h - what lld writes is held back until all is good ----===//
//
// lld removes the previous output before it writes the new one, and maps and the like in place. In
// a link with a front, all that it writes is staged instead (program/staged_files.h). lld goes on
// knowing each file by its own name, which is in its messages, in lists of dependencies and in what
// --reproduce keeps, so nothing that it writes depends on the names for the time being.
//
// Two things stay lld's: what --reproduce keeps, which is for links that fail, and the temporary
// files of link-time optimization.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_WRITTEN_FILES_H
#define FRONTLOAD_LLDPLUGIN_LLD_WRITTEN_FILES_H

#include "program/staged_files.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <functional>
#include <string>

namespace frontload {

/// The files of this process that wait for their places. However it ends, they do not stay.
StagedFiles &stagedFiles();

/// What makes the bytes of the output good, which may be a file or not, or returns an exit code.
/// `discard` gives up all that the link has written.
using FinishBytes = std::function<int(llvm::MutableArrayRef<char>, bool isFile,
                                      llvm::function_ref<void()> discard)>;

/// Holds back what lld writes from now on with these `args`. The bytes of what it links at `output`
/// go through `finish` first.
void holdWrittenFiles(llvm::ArrayRef<const char *> args, std::string output, FinishBytes finish);
/// Whether they did.
bool hasFinishedOutput();
/// Whether lld has written a map or the like to a pipe or a terminal, where it cannot be taken
/// back.
bool hasShownText();

} // namespace frontload

#endif
