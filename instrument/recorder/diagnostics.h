// How a recorder says that something is wrong: one line on stderr, which it shares with the program
// it records, so every line is a single write.
#ifndef FRONTLOAD_RECORDER_DIAGNOSTICS_H
#define FRONTLOAD_RECORDER_DIAGNOSTICS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// What every message begins with; each recorder defines its own.
extern const char toolName[];

/// Exit statuses of a recorder itself; every other status is the program's (see env(1)).
enum ExitStatus { exitUsage = 2, exitFailed = 125, exitNotExecutable = 126, exitNotFound = 127 };

/// What helps where a command cannot be executed, and where traces cannot be written.
extern const char howToExecute[], howToWrite[];

void error(const llvm::Twine &message);
void warning(const llvm::Twine &message);
void note(const llvm::Twine &message);

/// Notes about a file are given once, however often it is executed.
void noteOnce(const llvm::Twine &message);

/// "<thing>: <what>: <errno text>" with the present errno.
llvm::Error systemError(const llvm::Twine &thing, const llvm::Twine &what);

} // namespace frontload

#endif
