// The rules of a search for a startup set, and its results.
#pragma once

#include "profile/startup_profile.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace frontload {

/// Which of identical functions a linker folds.
enum class Folding : uint8_t {
  None,
  Safe, ///< those whose addresses do not matter
  All,
};

/// One place that a profile entry stands for.
struct EntryPlace {
  uint32_t entry;
  uint32_t object;         ///< number among all objects so far
  uint32_t section;        ///< index
  uint32_t symbolIndex;    ///< in the symbol table; 0 for a section
  const char *sectionName; ///< as in StartupSection
  llvm::StringRef symbol;  ///< its name there
  uint64_t value;          ///< of the symbol
};

/// The places of all entries.
struct EntryPlaces {
  /// In sections that can be placed.
  std::vector<EntryPlace> movable;
  /// In sections that keep their place (.init, a C-identifier name, large data, ...).
  std::vector<EntryPlace> kept;
  /// By entry: whether it is in a section that keeps its place, or in none (COMMON).
  std::vector<bool> isKept;
};

/// The touched part of a constant section that is left out of the front, because startup touches
/// little of it (front_worth.h). The part lies at one place, so it can be prefetched together with
/// the front. The file has the same contents as the object, unless relocations change them.
struct LeftOutPart {
  uint32_t object;          ///< number among all objects so far
  uint32_t section;         ///< index
  Stretch stretch;          ///< in the section
  llvm::StringRef contents; ///< of the section
};

/// Such a part in the output: the left-out sections lead .rodata, one behind the other, so the plan
/// can calculate where each of them is. The linker may merge constants or fold equal sections, and
/// make that wrong, so the output is checked for the section.
struct ExpectedPart {
  LeftOutPart part;
  uint64_t offset; ///< of its section in .rodata
};

/// What becomes of writable data and of sections with names of their own that no entry names.
enum class UnnamedRule : uint8_t {
  Kept,      ///< not looked at
  Placed,    ///< those that startup is likely to touch are part of the startup set
  Relocated, ///< the same, in a link whose data the loader relocates (PIE, shared library)
};

/// All sections of a link with one unusual name (not .text, .data, ...). A linker keeps them
/// together, and a profile need not name them (unnamed_sections.h).
struct OtherOutput {
  uint64_t bytes = 0; ///< with padding that is not worth reading
  /// The flags of all input sections: SHF_WRITE, SHF_EXECINSTR, SHF_X86_64_LARGE.
  uint64_t flags = 0;
  /// Whether all sections are without contents (SHT_NOBITS).
  bool isZeros = true;
  /// Whether it must stay where the linker puts it.
  bool keepsPlace = false;
  /// The number of windows that a start touches: those in the profile, on the average of all runs,
  /// and those that the loader relocates.
  double windows = 0;

  OtherOutput &operator+=(const OtherOutput &other) {
    bytes += other.bytes;
    flags |= other.flags;
    isZeros &= other.isZeros;
    keepsPlace |= other.keepsPlace;
    windows += other.windows;
    return *this;
  }
};

/// By name, in the order in which they are met.
using OtherOutputs = llvm::MapVector<llvm::StringRef, OtherOutput>;

} // namespace frontload
