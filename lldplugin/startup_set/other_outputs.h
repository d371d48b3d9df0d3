//===- other_outputs.h - sections that no profile names --------------------===//
//
// A linker keeps sections with names of their own together, and nothing in a profile need name
// them. unnamed_sections.h finds them, and what else no profile names; this is what it tells.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_OTHER_OUTPUTS_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_OTHER_OUTPUTS_H

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace frontload {

/// What becomes of writable data and of sections with names of their own that no entry names.
enum class UnnamedRule : uint8_t {
  Kept,      ///< they are not looked at
  Placed,    ///< what startup is likely to touch of them is part of the startup set
  Relocated, ///< the same, in a link the data of which the loader relocates (PIE, shared library)
};

/// All sections of a link that have one name, which is none of the usual ones (.text, .data, ...).
struct OtherOutput {
  uint64_t bytes = 0;
  /// Those of the input sections, together: SHF_WRITE, SHF_EXECINSTR, SHF_X86_64_LARGE.
  uint64_t flags = 0;
  /// Whether all of them are without contents (SHT_NOBITS).
  bool isZeros = true;
  /// Whether it must stay where the linker puts it.
  bool keepsPlace = false;
  /// How many windows of it a start touches: those that the profile has seen, on the average of all
  /// runs, and those that the loader relocates.
  double windows = 0;

  OtherOutput &operator+=(const OtherOutput &other);
};

/// By name, in the order in which they are met.
using OtherOutputs = llvm::MapVector<llvm::StringRef, OtherOutput>;

} // namespace frontload

#endif
