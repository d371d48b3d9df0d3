// How a recorder reports that something is wrong: one line on stderr. It shares stderr with the
// program it records, so every line is a single write.
#pragma once

#include "base/exit_status.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// The beginning of every message; each recorder defines its own.
extern const char toolName[];

void error(const llvm::Twine &message);
void warning(const llvm::Twine &message);
void note(const llvm::Twine &message);

/// Notes about a file are given once, however often it is executed.
void noteOnce(const llvm::Twine &message);

/// Reports a failure of the recorder, and the remedy. Returns the exit status.
int fail(llvm::Error problem, int status = EXIT_FAILED, const char *remedy = nullptr);

/// "<thing>: <what>: <errno text>" with the present errno.
llvm::Error systemError(const llvm::Twine &thing, const llvm::Twine &what);

} // namespace frontload
