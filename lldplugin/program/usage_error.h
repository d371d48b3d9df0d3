//===- usage_error.h - what is wrong with a command line -------------------===//
//
// LLVM's CommandLine says it in its own way: the program's name, the problem, advice, and perhaps
// what could have been meant. Our programs say it in ours, of which this makes the two lines.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_USAGE_ERROR_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_USAGE_ERROR_H

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace frontload {

struct UsageError {
  std::string message, note;
};

/// What LLVM said about the command line of `program`.
inline UsageError usageErrorOf(llvm::StringRef program, llvm::StringRef said) {
  llvm::StringRef line = said.split('\n').first.split("  Try: ").first;
  if (line.consume_front(program))
    line.consume_front(": ");
  // It always names the nearest, however far that is.
  llvm::StringRef meant = said.split("Did you mean '").second.split("'?").first;
  llvm::StringRef given = line.split('\'').second.split('\'').first;
  bool isNear = !meant.empty() && meant.edit_distance(given) <= 2;
  std::string note = ("try: " + program + " --help").str();
  return {line.rtrim(".").str(), isNear ? ("did you mean " + meant + "? " + note).str() : note};
}

} // namespace frontload

#endif
