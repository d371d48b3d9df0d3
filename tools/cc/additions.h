//===- additions.h - the flags that frontload-cc adds to a call ------------===//

#ifndef FRONTLOAD_TOOLS_CC_ADDITIONS_H
#define FRONTLOAD_TOOLS_CC_ADDITIONS_H

#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include "cc/own_options.h"

namespace frontload {

/// The flags for one call. They come before those of the build, which override them.
class Additions {
public:
  Additions(const OwnOptions &theOptions, const CompilerCommand &theCommand)
      : options(theOptions), command(theCommand) {}

  /// Fills `flags` for the call of `compiler`. Returns an error, if there is one.
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
