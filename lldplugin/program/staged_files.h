// Files that take their places together.
//
// A link writes its output and more, and learns only at its end whether they are good. Until then
// each file has another name beside its own, and what was there before stays. So even a kill leaves
// each file as it was or whole and new. An end that can be caught leaves no temporary file.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

/// Has `write` write to `path`, which may be a device; "-" is the standard output.
llvm::Error writeOutputFile(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> write);

/// Whether a link makes a regular file at `path`, instead of writing to a device or the like.
bool makesFile(llvm::StringRef path);

/// A temporary name for a file that is to be at `path`.
std::string nameForStaged(llvm::StringRef path);

class StagedFiles {
public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles &) = delete;
  ~StagedFiles() { discard(); }

  /// The name under which to write the file for `path`: `path` itself if nothing can be replaced
  /// there, as at a device.
  std::string stage(llvm::StringRef path);
  /// Takes the file that a link has made as `temporary`. It replaces `path` itself, even a link,
  /// and after all other files, so that a build may go by its age.
  void addOutput(llvm::StringRef path, llvm::StringRef temporary);

  /// Puts all files in their places.
  llvm::Error publish();
  /// Removes all files that wait.
  void discard();

private:
  struct File {
    std::string place, temporary;
  };

  std::vector<File> files, outputs;
};

} // namespace frontload
