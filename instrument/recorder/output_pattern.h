// Where traces go: a file name pattern in which %p stands for the process id, %m for the program's
// file name and %% for a percent sign.
#ifndef FRONTLOAD_RECORDER_OUTPUT_PATTERN_H
#define FRONTLOAD_RECORDER_OUTPUT_PATTERN_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <sys/types.h>

namespace frontload {

class OutputPattern {
public:
  /// Refuses letters without a meaning, so that a mistyped pattern does not become a file name.
  static llvm::Expected<OutputPattern> parse(llvm::StringRef text);

  std::string expand(llvm::StringRef programPath, pid_t pid) const;

  /// The pattern with an absolute path, for a recorder that may expand it in another folder.
  std::string absolute() const;

  /// Checks now that a trace of `programPath` can be written later: that the folder exists, takes
  /// files and has room. A folder whose own name holds %p or %m cannot be checked.
  llvm::Error check(llvm::StringRef programPath) const;

private:
  explicit OutputPattern(llvm::StringRef pattern) : text(pattern) {}

  std::string text;
};

} // namespace frontload

#endif
