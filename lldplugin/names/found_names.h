// Which finds of a name are meant.
//
// A name of the profile may be found many times in a link: many objects have local functions of the
// same name, and several clones may replace a function. The rules, for each entry by itself:
//
//   1. An entry with a file (that of a local symbol) means the local symbols of that file with the
//      lowest likeness (Exact, Suffix, Clone, Variant, Tag, Hash, Part). Only if there are none, it
//      means the other symbols with the lowest likeness.
//   2. An entry without a file means the symbols with the lowest likeness; of exact ones, global
//      symbols come before local ones.
//   3. Stable names (NameTable::findStable) are compared only for entries that nothing else, or
//      only a part of a function, was found for.
//   4. All equally good symbols count; if they are not exact, the first 128 in the order of the
//      link. Copies of one global symbol (COMDAT) are one. An entry for which several count is
//      reported as ambiguous.
#pragma once

#include "names/name_parts.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
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
  /// `tellsFile`: the entry has a file; `agrees`: the definition is a local symbol of that file.
  FindRank(Likeness likeness, bool isLocal, bool tellsFile, bool agrees)
      : value(2 * static_cast<uint8_t>(likeness) +
              (tellsFile ? (agrees ? 0 : 2 * numLikenesses)
                         : uint8_t(isLocal && likeness == Likeness::Exact))) {}

  bool operator<(FindRank other) const { return value < other.value; }
  bool operator==(const FindRank &) const = default;
  bool isFound() const { return value != notFound; }
  /// Whether the definition is exactly that of the entry, file and all.
  bool isExact() const { return value == 0; }
  Likeness likeness() const { return static_cast<Likeness>(value / 2 % numLikenesses); }

private:
  static constexpr uint8_t notFound = 0xff;
  uint8_t value = notFound;
};

/// The finds of all entries of a profile in a link.
class FoundNames {
public:
  explicit FoundNames(size_t numEntries) : entries(numEntries) {}

  /// First all finds are noted, ...
  void note(uint32_t entry, FindRank rank) {
    if (rank < entries[entry].best)
      entries[entry] = {rank, {}};
  }
  /// ... then each find is passed again, in the order of the link. Returns whether it counts.
  bool accept(uint32_t entry, FindRank rank, const Definition &definition) {
    auto &[best, definitions] = entries[entry];
    if (rank != best)
      return false;
    bool isKnown = llvm::any_of(definitions, [&](const Definition &other) {
      return other.isLocal == definition.isLocal && other.symbol == definition.symbol &&
             (!other.isLocal || other.object == definition.object);
    });
    // All exact definitions count, and only whether there are several matters.
    bool isFull = definitions.size() == (rank.isExact() ? 2 : maxInexact);
    if (!isKnown && !isFull)
      definitions.push_back(definition);
    return isKnown || !isFull || rank.isExact();
  }

  bool isFound(uint32_t entry) const { return entries[entry].best.isFound(); }
  /// Whether an entry needs no look at stable names.
  bool isSettled(uint32_t entry) const {
    return isFound(entry) && best(entry).likeness() != Likeness::Part;
  }
  FindRank best(uint32_t entry) const { return entries[entry].best; }
  /// The different definitions that count: at most two if they are exact.
  llvm::ArrayRef<Definition> definitions(uint32_t entry) const {
    return entries[entry].definitions;
  }
  bool isAmbiguous(uint32_t entry) const { return definitions(entry).size() > 1; }

private:
  static constexpr size_t maxInexact = 128;
  struct Entry {
    FindRank best;
    llvm::SmallVector<Definition, 1> definitions; // nearly all have one
  };
  std::vector<Entry> entries;
};

} // namespace frontload
