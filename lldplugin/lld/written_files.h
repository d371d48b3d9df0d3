//===- written_files.h - what lld writes is held back until all is good ----===//
//
// lld removes the previous output before it writes the new one, and maps and the like in place. In
// a link with a front, all its files are staged instead (program/staged_files.h). lld still has the
// final name of each file, which is in its messages, in lists of dependencies and in the tar of
// --reproduce. So nothing that lld writes depends on the temporary names.
//
// lld itself still writes the tar of --reproduce, which is for links that fail, and the temporary
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

/// The files of this process that wait for their places. However it ends, no such file stays.
StagedFiles &stagedFiles();

/// Finishes the bytes of the output, which may be a file or not, and returns an exit code.
/// `discard` gives up all files of the link.
using FinishBytes = std::function<int(llvm::MutableArrayRef<char>, bool isFile,
                                      llvm::function_ref<void()> discard)>;

/// Holds back the files that lld writes from now on with these `args`. The bytes of `output` go
/// through `finish` first.
void holdWrittenFiles(llvm::ArrayRef<const char *> args, std::string output, FinishBytes finish);
/// Whether `finish` has succeeded.
bool hasFinishedOutput();
/// Whether lld has written a map or the like to a pipe or a terminal, where it cannot be taken
/// back.
bool hasShownText();

} // namespace frontload

#endif
