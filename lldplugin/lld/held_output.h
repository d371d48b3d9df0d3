// The output is held back until it is good.
//
// lld removes the previous output before it writes the new one. Here the output and the report
// of the front are staged instead (program/staged_files.h). lld still has the final name of the
// output, which is in its messages, in lists of dependencies and in the tar of --reproduce.
#pragma once

#include "program/staged_files.h"
#include "llvm/ADT/ArrayRef.h"
#include <functional>
#include <string>

namespace frontload {

/// The files of this process that wait for their places. However it ends, no such file stays.
StagedFiles &stagedFiles();

/// Finishes the bytes of the output, which may be a file or not, and returns an exit code.
using FinishBytes = std::function<int(llvm::MutableArrayRef<char>, bool isFile)>;

/// Holds back what lld writes from now on as `output`. Its bytes go through `finish` first.
void holdOutput(std::string output, FinishBytes finish);
/// Whether `finish` has succeeded.
bool hasFinishedOutput();

} // namespace frontload
