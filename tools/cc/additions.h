//===- additions.h - what frontload-cc adds to a call of a compiler --------===//

#ifndef FRONTLOAD_TOOLS_CC_ADDITIONS_H
#define FRONTLOAD_TOOLS_CC_ADDITIONS_H

#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include "cc/own_options.h"

namespace frontload {

/// The flags for one call. They go before those of the build, whose word is the last one.
class Additions {
public:
  Additions(const OwnOptions &theOptions, const CompilerCommand &theCommand)
      : options(theOptions), command(theCommand) {}

  /// Finds out what is to be added to the call of `compiler`. Returns what is wrong.
  std::optional<Refusal> make(llvm::StringRef compiler, Family family);

  std::vector<std::string> flags;

private:
  const OwnOptions &options;
  const CompilerCommand &command;

  std::optional<Refusal> addLinker();
  void addMap();
  void addProfile(bool isTried);
};

} // namespace frontload

#endif
