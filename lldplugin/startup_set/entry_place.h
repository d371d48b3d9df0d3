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
  uint32_t object;         ///< its number, of all objects so far
  uint32_t section;        ///< its index
  uint32_t symbolIndex;    ///< in the symbol table; 0 for a section
  const char *sectionName; ///< as in StartupSection
  llvm::StringRef symbol;  ///< what it is called there
  uint64_t value;          ///< of the symbol
};

/// Where all entries are.
struct EntryPlaces {
  /// Which sections they may be placed by.
  std::vector<EntryPlace> movable;
  /// The others: in sections that keep their place (.init, a C-identifier name, large data, ...).
  std::vector<EntryPlace> kept;
  /// The entries that are in such a section, or in none (COMMON).
  std::vector<bool> isKept;
};

} // namespace frontload

#endif
