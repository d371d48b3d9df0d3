//===- child_process.h - runs another program ------------------------------===//

#pragma once

#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

struct Finished {
  int exitCode = 0;           ///< 128 and the signal's number if it was killed
  int signal = 0;             ///< the signal that killed it; 0 if it exited
  std::string output, errors; ///< what it wrote to its standard output and error output
};

/// A program, a path, and its arguments. They are handed over in a response file if they are too
/// many for the system.
struct Command {
  std::string program;
  std::vector<std::string> leading; ///< come first, and are never in a response file
  std::vector<std::string> args;
};

/// Runs a program and waits for it. The program ends if this process does.
llvm::Expected<Finished> runProgram(Command command);

/// Becomes a program. Returns only if that fails.
llvm::Error becomeProgram(Command command);

} // namespace frontload
