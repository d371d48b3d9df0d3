// The common part of the command lines of the recorders beside a program:
//   recorder [-o pattern] [--module=name]... [--role=name] [options of its own] -- command
//   [argument...]
#pragma once

#include "trace_writer.h"

#include "llvm/Support/CommandLine.h"

#include <optional>

namespace frontload {

/// The category of all options of a recorder; --help shows no others.
llvm::cl::OptionCategory &recorderOptions();

extern llvm::cl::list<std::string> moduleOption; // --module
extern llvm::cl::opt<std::string> untilOption;   // --until
extern llvm::cl::opt<double> forOption;          // --for: above 0, if it was given

/// The remedy if traces cannot be written.
constexpr char howToWrite[] = "choose another place with --output";

struct CommandLine {
  /// The command and its arguments; ends with a null pointer.
  char **command;
  OutputPattern pattern;
  std::string role; // empty: by the environment
};

/// Parses the options. Reports errors in them.
std::optional<CommandLine> parseCommandLine(int argc, char **argv, llvm::StringRef overview);

} // namespace frontload
