//===- found_names.h - which finds of a name are meant ---------------------===//
//
// A name of the profile may be found many times in a link: local functions of the same name are in
// many objects, and in place of a function that is gone there may be several clones of it. The
// rule, for each entry of the profile by itself:
//
//   1. An entry that tells its file (that of a local symbol) means a local symbol of that file, by
//      the lowest likeness (Exact, Suffix, Clone, Variant, Hash, Part) with which there is one.
//      Only if there is none, it means the others, by the lowest likeness again.
//   2. An entry without a file means what is found with the lowest likeness; an exact name first as
//      a global symbol, then as a local one.
//   3. Of what is equally good all count, at most 128 in the order of the link if it is not exact.
//      Copies of one global symbol (COMDAT) are one. Where more than one counts, the entry is
//      ambiguous, and reported so.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_FOUND_NAMES_H
#define FRONTLOAD_LLDPLUGIN_NAMES_FOUND_NAMES_H

#include "names/name_parts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace frontload {

/// A definition that an entry may mean.
struct Definition {
  llvm::StringRef symbol;
  uint32_t object; ///< its number in the link
  bool isLocal;
};

/// How good a find is; the lower, the better.
class FindRank {
public:
  FindRank() = default;
  /// `tellsFile`: the entry does; `agrees`: the definition is a local symbol of that file.
  FindRank(Likeness likeness, bool isLocal, bool tellsFile, bool agrees)
      : value(2 * static_cast<uint8_t>(likeness) +
              (tellsFile ? (agrees ? 0 : 2 * numLikenesses)
                         : uint8_t(isLocal && likeness == Likeness::Exact))) {}

  bool operator<(FindRank other) const { return value < other.value; }
  bool operator==(const FindRank &) const = default;
  bool isFound() const { return value != notFound; }
  /// Whether it is what the entry says, file and all.
  bool isExact() const { return value == 0; }
  Likeness likeness() const { return static_cast<Likeness>(value / 2 % numLikenesses); }

private:
  static constexpr uint8_t notFound = 0xff;
  uint8_t value = notFound;
};

/// What was found for the entries of a profile, over all of a link.
class FoundNames {
public:
  explicit FoundNames(size_t numEntries) : entries(numEntries) {}

  /// First all finds are noted, ...
  void note(uint32_t entry, FindRank rank) {
    if (rank < entries[entry].best)
      entries[entry] = {rank, {}};
  }
  /// ... then each is asked for, in the order of the link: whether it counts.
  bool accept(uint32_t entry, FindRank rank, const Definition &definition);

  bool isFound(uint32_t entry) const { return entries[entry].best.isFound(); }
  FindRank best(uint32_t entry) const { return entries[entry].best; }
  /// The different definitions that count, of entries that are defined more than once or not
  /// exactly as the profile says: for exact ones at most two.
  llvm::ArrayRef<Definition> definitions(uint32_t entry) const {
    return entries[entry].definitions;
  }
  bool isAmbiguous(uint32_t entry) const { return definitions(entry).size() > 1; }

private:
  struct Entry {
    FindRank best;
    llvm::SmallVector<Definition, 1> definitions; // nearly all have one
  };
  std::vector<Entry> entries;
};

} // namespace frontload

#endif
