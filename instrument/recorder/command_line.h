// What the command lines of the recorders beside a program have in common:
//   recorder [-o pattern] [--module=name]... [--role=name] [options of its own] -- command
//   [argument...]
#ifndef FRONTLOAD_RECORDER_COMMAND_LINE_H
#define FRONTLOAD_RECORDER_COMMAND_LINE_H

#include "output_pattern.h"

#include "llvm/Support/CommandLine.h"

#include <optional>

namespace frontload {

/// Each option of a recorder belongs to it; --help shows no others.
llvm::cl::OptionCategory &recorderOptions();

/// --module
extern llvm::cl::list<std::string> moduleOption;

/// Reports what is wrong with the command line. Returns the exit status.
int usageError(const llvm::Twine &message);

/// The remedy if traces cannot be written.
constexpr char howToWrite[] = "choose another place with --output";

struct CommandLine {
  /// The command and its arguments; ends with a null pointer.
  char **command;
  OutputPattern pattern;
  std::string role; // empty: the environment says
};

/// Parses the options. Reports what is wrong with them.
std::optional<CommandLine> parseCommandLine(int argc, char **argv, llvm::StringRef overview);

} // namespace frontload

#endif
