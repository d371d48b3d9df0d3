//===- link_refusal.h - links that frontload-cc leaves alone ---------------===//
//
// A front needs ld.frontload and its layout. If a build has chosen otherwise for one of its
// programs, that program is linked as without frontload-cc.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_LINK_REFUSAL_H
#define FRONTLOAD_TOOLS_CC_LINK_REFUSAL_H

#include "cc/compiler.h"
#include "cc/compiler_command.h"
#include <optional>

namespace frontload {

/// Why ld.frontload cannot do this link by `compiler` with a front; nothing if it can.
std::optional<std::string> whyNotOurs(llvm::StringRef compiler, Family family,
                                      const CompilerCommand &command);

} // namespace frontload

#endif
