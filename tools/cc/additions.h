//===- additions.h - the flags that frontload-cc adds to a call ------------===//
//
// A front needs ld.frontload and its layout. If a build has chosen otherwise for one of its
// programs, that program is linked as without frontload-cc.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include "cc/own_options.h"

namespace frontload {

/// Fills `flags` for one call of `compiler`. They come before those of the build, which override
/// them. Returns an error, if there is one.
std::optional<Refusal> makeAdditions(const OwnOptions &options, const CompilerCommand &command,
                                     llvm::StringRef compiler, Family family,
                                     std::vector<std::string> &flags);

} // namespace frontload
