//===- child_process.h - runs another program ------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OTHER_LLD_CHILD_PROCESS_H
#define FRONTLOAD_LLDPLUGIN_OTHER_LLD_CHILD_PROCESS_H

#include "other_lld/memory_file.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace frontload {

struct Finished {
  int exitCode = 0;           ///< 128 and the signal's number if it was killed
  int signal = 0;             ///< the signal that killed it; 0 if it exited
  std::string output, errors; ///< what it wrote to its standard output and error output
};

/// A program, a path, and its arguments.
struct Command {
  std::string program;
  std::vector<std::string> leading; ///< come first, and are never in a response file
  std::vector<std::string> args;
};

/// Arguments for a program, in a response file if they are too many for the system.
class Arguments {
public:
  static llvm::Expected<Arguments> make(Command command);
  /// The program's name, the arguments and a null pointer, valid as long as this object lives.
  std::vector<const char *> vector() const;
  /// Keeps the response file, if there is one, for the program that this process becomes.
  llvm::Error keepForSuccessor();

private:
  Command command;
  MemoryFile responseFile;
};

/// Runs a program and waits for it. The program ends if this process does. `environment` are
/// variables (NAME=value) that the program has in addition to ours.
llvm::Expected<Finished> runProgram(Command command, llvm::ArrayRef<std::string> environment = {});

/// Becomes a program. Returns only if that fails.
llvm::Error becomeProgram(Command command);

} // namespace frontload

#endif
