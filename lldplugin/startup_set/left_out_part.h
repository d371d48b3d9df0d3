//===- left_out_part.h - touched part of a left-out section ----------------===//
//
// A large table is left out of the front if startup touches little of it (front_worth.h), and costs
// a fault. If the profile records that all touched bytes lie at one place, this part can be
// prefetched together with the front.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_LEFT_OUT_PART_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_LEFT_OUT_PART_H

#include "profile/startup_profile.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace frontload {

/// A part of a constant section that is left out of the front. The file has the same contents as
/// the object, unless relocations change them.
struct LeftOutPart {
  uint32_t object;          ///< number among all objects so far
  uint32_t section;         ///< index
  Stretch stretch;          ///< in the section
  llvm::StringRef contents; ///< of the section
};

} // namespace frontload

#endif
