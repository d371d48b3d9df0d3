//===- other_outputs.h - sections that no profile names --------------------===//
//
// A linker keeps sections with names of their own together, and a profile need not name them. These
// are the results of unnamed_sections.h, which finds such sections.
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
  Kept,      ///< not looked at
  Placed,    ///< those that startup is likely to touch are part of the startup set
  Relocated, ///< the same, in a link whose data the loader relocates (PIE, shared library)
};

/// All sections of a link with one unusual name (not .text, .data, ...).
struct OtherOutput {
  uint64_t bytes = 0;
  /// The flags of all input sections: SHF_WRITE, SHF_EXECINSTR, SHF_X86_64_LARGE.
  uint64_t flags = 0;
  /// Whether all sections are without contents (SHT_NOBITS).
  bool isZeros = true;
  /// Whether it must stay where the linker puts it.
  bool keepsPlace = false;
  /// The number of windows that a start touches: those in the profile, on the average of all runs,
  /// and those that the loader relocates.
  double windows = 0;

  OtherOutput &operator+=(const OtherOutput &other);
};

/// By name, in the order in which they are met.
using OtherOutputs = llvm::MapVector<llvm::StringRef, OtherOutput>;

} // namespace frontload

#endif
