//===- held_output.h - the output is held back until it is good ------------===//
//
// lld removes the previous output before it writes the new one. In a link with a front, the output
// and its report are staged instead (program/staged_files.h). lld still has the final name of the
// output, which is in its messages, in lists of dependencies and in the tar of --reproduce.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_HELD_OUTPUT_H
#define FRONTLOAD_LLDPLUGIN_LLD_HELD_OUTPUT_H

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

/// Holds back what lld writes from now on as `output`. Its bytes go through `finish` first.
void holdOutput(std::string output, FinishBytes finish);
/// Whether `finish` has succeeded.
bool hasFinishedOutput();

} // namespace frontload

#endif
