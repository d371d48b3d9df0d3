// What linker scripts of others say.
//
// Most linker scripts that a link reads only name files, or give a few symbols their values; they
// can be combined with a front. A script that places sections cannot.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace frontload {

/// Whether a linker script decides where sections go, as SECTIONS and its like do. Such a script
/// cannot be combined with a front: each would take sections that the other is to place.
bool decidesLayout(llvm::StringRef script);

} // namespace frontload
