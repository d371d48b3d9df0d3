//===- diagnostics.h - how ld.frontload says that something is wrong -------===//
//
// The driver and the hooks refuse links in the same two lines and with the same exit codes, which
// are those of the frontload command.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_DIAGNOSTICS_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_DIAGNOSTICS_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

namespace frontload {

/// A failed verdict (also what lld returns for its own failures), a wrong command line or a file
/// that cannot be used, bad contents of a file.
constexpr int exitVerdict = 1, exitUsage = 2, exitData = 65;

/// Says what is wrong and, in `note`, what to do.
inline void error(const llvm::Twine &message, const llvm::Twine &note) {
  llvm::errs() << "ld.frontload: error: " << message << '\n';
  llvm::errs() << "ld.frontload: note: " << note << '\n';
}

} // namespace frontload

#endif
