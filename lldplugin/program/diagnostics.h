// How a program says what is wrong, and how it ends.
//
// The programs of lldplugin and tools report in one form: a line that says what is wrong, and one
// that says what to do. They end with the exit codes of the frontload command.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace frontload {

/// A failed verdict (also what lld returns for its own failures), a wrong command line or a file
/// that cannot be used, bad contents of a file.
constexpr int exitVerdict = 1, exitUsage = 2, exitData = 65;
/// Of a program that becomes another one: the other cannot be run, or is not there.
constexpr int exitCannotRun = 126, exitNotFound = 127;

/// Why something cannot be done, what to do, and what to exit with.
struct Refusal {
  std::string message, note;
  int exitCode;
};

/// The name by which a program or a plugin speaks. Each defines its own.
extern const llvm::StringLiteral programName;

/// Says what is wrong and, in `note`, what to do.
void error(const llvm::Twine &message, const llvm::Twine &note);
/// Says what a user may want to know; the program goes on.
void warning(const llvm::Twine &message);
void note(const llvm::Twine &message);

/// Prints the refusal. Returns its exit code.
int refuse(const Refusal &refusal);

/// Says what is wrong and what to do, and ends the program.
[[noreturn]] void fail(int exitCode, const llvm::Twine &message, const llvm::Twine &note);

} // namespace frontload
