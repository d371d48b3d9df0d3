// What programs with files on their command line share.
#pragma once

#include "program/diagnostics.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace frontload {

/// Parses the options of `category`, which alone --help shows, below `overview`. Wrong options end
/// the program, in our form of diagnostics instead of LLVM's.
void parseOptions(int argc, char **argv, llvm::cl::OptionCategory &category,
                  llvm::StringRef overview);

/// The bytes of a file, or for "-" those of the standard input. If it cannot be read, the program
/// ends, and `note` says what to do.
std::unique_ptr<llvm::MemoryBuffer> readInput(const llvm::Twine &path, const llvm::Twine &note);

/// The value of `expected`. An error ends the program, as bad contents of `thing`.
template <class T>
T orExit(llvm::Expected<T> expected, const llvm::Twine &thing, const llvm::Twine &note) {
  if (!expected)
    fail(exitData, thing + toString(expected.takeError()), note);
  return std::move(*expected);
}

/// Writes what is left of the standard output. The program ends if that cannot be written.
void flushOutput();

} // namespace frontload
