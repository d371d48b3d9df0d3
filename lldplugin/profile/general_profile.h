// What every program touches.
//
// The startup profile of a link without one, with --front=auto: where programs begin, and what they
// touch of libraries that are linked statically. What is likely to come next is found in the link
// (startup_set/likely_sections.h).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace frontload {

/// A startup profile, in the format of docs/reference/profile-format.md: runtime.startup.
extern const llvm::StringRef generalProfile;

} // namespace frontload
