// The options of frontload-cc.
//
// The options stand before the compiler. Environment variables do the same for all calls of a build
// that has no place for an option.
#pragma once

#include "program/diagnostics.h"
#include "llvm/ADT/ArrayRef.h"

namespace frontload {

enum class Mode {
  Off,    ///< the compiler as it is
  Record, ///< programs whose start can be recorded, with a map
  Use,    ///< programs with a front
};

struct OwnOptions {
  std::optional<Mode> mode;           ///< always set by readOwnOptions()
  std::string profile, profileFolder; ///< at most one counts: the profile
  std::string minMatch;               ///< a number, or empty
  std::string linkLog;
  bool wantsPrefetch = false;
  bool keepsLinker = false;
  bool addsSectionFlags = true;
  bool isHelp = false, isVersion = false;
};

/// Reads the options from the environment and from the beginning of `args`, which it shortens to
/// the compiler and its arguments. Returns an error, if there is one.
std::optional<Refusal> readOwnOptions(llvm::ArrayRef<const char *> &args, OwnOptions &options);

} // namespace frontload
