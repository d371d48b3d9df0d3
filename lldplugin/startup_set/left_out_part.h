//===- left_out_part.h - what startup touches of what is left out ----------===//
//
// A large table of which startup touches little is left out of the front (front_worth.h), and costs
// a fault. If the profile tells that all of that lies at one place, this place can be asked for
// together with the front: a part of what is left out.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_LEFT_OUT_PART_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_LEFT_OUT_PART_H

#include "profile/startup_profile.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace frontload {

/// A part of a section that is constant, left out of the front, and in the file as in the object,
/// unless relocations change it.
struct LeftOutPart {
  uint32_t object;          ///< its number, of all objects so far
  uint32_t section;         ///< its index
  Stretch stretch;          ///< in the section
  llvm::StringRef contents; ///< of the section
};

} // namespace frontload

#endif
