//===- staged_files.h - files that take their places together --------------===//
//
// A link writes several files, and learns only at its end whether they are good. Until then each
// has another name beside its own, and what was there before stays. So whatever happens, even a
// kill, leaves each file as it was or whole and new; what is told of in time leaves nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_STAGED_FILES_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_STAGED_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// The file that is written by writing to `path`, which may be a link, by a name at which a rename
/// can replace it. None if `path` is a device, a pipe or the like, or only this process's name for
/// what it has open.
std::optional<std::string> replaceableFile(llvm::StringRef path);

/// A name for a file that waits to be at `path`.
std::string nameForStaged(llvm::StringRef path);

class StagedFiles {
public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles &) = delete;
  ~StagedFiles() { discard(); }

  /// The name under which to write what belongs to `path`: that itself if nothing can be replaced
  /// there. It is the same one for the same path.
  std::string stage(llvm::StringRef path);
  /// Takes what a link has made under the name `temporary`. It takes the place of `path` itself,
  /// also where that is a link, and after all others, so that a build may go by its age.
  void addOutput(llvm::StringRef path, llvm::StringRef temporary);

  /// Puts all files in their places.
  llvm::Error publish();
  /// Removes them.
  void discard();

private:
  struct File {
    std::string place, temporary;
  };

  std::vector<File> files, outputs;
};

} // namespace frontload

#endif
