//===- entry_place.h - where an entry of a profile is in a link ------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_ENTRY_PLACE_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_ENTRY_PLACE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace frontload {

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

} // namespace frontload

#endif
