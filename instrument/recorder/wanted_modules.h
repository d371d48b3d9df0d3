// The libraries that --module names, and the names that no loaded library had.
#ifndef FRONTLOAD_RECORDER_WANTED_MODULES_H
#define FRONTLOAD_RECORDER_WANTED_MODULES_H

#include "program_file.h"

#include "llvm/ADT/BitVector.h"

#include <vector>

namespace frontload {

class WantedModules {
public:
  /// `moduleNames`: file names, sonames or paths, as given to --module.
  explicit WantedModules(std::vector<std::string> moduleNames);

  bool isEmpty() const { return names.empty(); }

  /// Takes note of a library that was loaded. Returns whether it is to be recorded.
  bool loaded(const ProgramFile &library);

  /// Warns of each name that no loaded library had, with the words `whatIsWrong`.
  void warnAboutUnseen(llvm::StringRef whatIsWrong) const;

private:
  std::vector<std::string> names;
  llvm::BitVector seen;
};

} // namespace frontload

#endif
