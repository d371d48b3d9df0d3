//===- link_refusal.h - links that frontload-cc leaves alone ---------------===//
//
// A front needs ld.frontload and its layout. If a build has chosen otherwise for one of its
// programs, frontload-cc respects that: the program is linked as it would be without it.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_LINK_REFUSAL_H
#define FRONTLOAD_TOOLS_CC_LINK_REFUSAL_H

#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include <optional>

namespace frontload {

/// Why this link by `compiler` cannot be one by ld.frontload with a front; nothing if it can.
std::optional<std::string> whyNotOurs(llvm::StringRef compiler, Family family,
                                      const CompilerCommand &command);

} // namespace frontload

#endif
