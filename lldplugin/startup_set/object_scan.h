// One object of a link, and its finds.
//
// Each step from a profile to a startup set visits all objects of a link in parallel, and leaves
// here what later steps need.
#pragma once

#include "elf/elf_object.h"
#include "names/found_names.h"
#include "names/name_hashes.h"
#include "startup_set/input_object.h"
#include "startup_set/search.h"
#include "startup_set/share_work.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace frontload {

/// Where a section belongs. The lower of two is the one that was touched first.
struct Place {
  uint32_t rank;
  SectionClass sectionClass;
  bool operator<(const Place &other) const { return rank < other.rank; }
};
/// By section index.
using Places = llvm::SmallDenseMap<uint32_t, Place>;

/// Sets the value of `key` if it is new or was higher. Returns whether it is new.
template <class Map, class Key, class Value>
bool lower(Map &map, const Key &key, const Value &value) {
  auto [it, isNew] = map.try_emplace(key, value);
  it->second = std::min(it->second, value);
  return isNew;
}

/// A definition that an entry of the profile may stand for.
struct EntryMatch {
  uint32_t entry;
  FindRank rank;
  Definition definition;
  uint32_t section = 0; ///< 0 if it keeps its place
  SectionClass sectionClass = {};
  uint64_t offset = 0;      ///< in the section
  uint32_t keptSection = 0; ///< the section that keeps its place; 0 if it is in none
  uint32_t symbolIndex = 0; ///< 0 for a section
};

/// A symbol that other objects may refer to by its name. There are many, so this has only enough to
/// rule a symbol out.
struct GlobalSymbol {
  uint32_t hash;  ///< of its name
  uint32_t index; ///< in the symbol table
};

/// One object and its finds.
template <class ELFT> struct ObjectScan {
  std::optional<ElfObject<ELFT>> object;
  bool isLinked = false;                   ///< a program or shared library
  bool isLazy = false;                     ///< linked only if needed
  uint32_t number = 0;                     ///< among all objects of the link
  std::string name;                        ///< as in profiles; empty if the profile cannot name it
  llvm::ArrayRef<uint32_t> sectionEntries; ///< entries of this object's sections

  llvm::SmallVector<EntryMatch, 0> matches;
  llvm::SmallVector<GlobalSymbol, 0> data, code;
  llvm::BitVector hasDataSymbol;      ///< by section index
  llvm::DenseSet<uint32_t> coldParts; ///< sections of parts split off as unlikely
  /// Labels around code, by name, and their sections (code_labels.h).
  llvm::SmallVector<std::pair<llvm::StringRef, uint32_t>, 0> codeLabels;
  uint32_t dataStart = 0; ///< the section that defines data_start, where a program's data begins
  bool isGo = false;      ///< linked by Go's own linker

  uint32_t firstLabel = 0; ///< the section of the label before all its code (code_labels.h)

  /// Indices of sections with unusual names, and of writable data (unnamed_sections.h).
  llvm::SmallVector<uint32_t, 0> unusual, writable;

  /// Sections of the front that are larger than the faults for their touched windows would read:
  /// index, and excess in bytes.
  llvm::SmallVector<std::pair<uint32_t, uint64_t>, 0> sparse;
  /// By index of a section that keeps its place: how many of its windows a run touches.
  llvm::SmallDenseMap<uint32_t, double> touchedOthers;
  /// Sections of .data.rel.ro that no entry names and the loader writes to, and the total size of
  /// those that it leaves alone.
  llvm::SmallVector<uint32_t, 0> relocatedRelro;
  uint64_t idleRelro = 0;
  Places named;
  Places referred; ///< data that the front refers to
  Places next;     ///< left out of the front, and behind it
  llvm::SmallVector<std::pair<uint32_t, uint32_t>, 0> startup; ///< sections, and their ranks
  Places tail;                                                 ///< likely sections, behind these
  llvm::SmallVector<LeftOutPart, 0> leftOutParts; ///< of sections that follow the front
  /// The sections whose relocations are followed next: rank and section index.
  llvm::SmallVector<std::pair<uint32_t, uint32_t>, 0> frontier;
  /// Names that the last step found references to, and ranks.
  llvm::SmallVector<std::pair<llvm::CachedHashStringRef, uint32_t>, 0> wanted;
  /// The windows of large merged sections that the front refers to.
  llvm::DenseMap<uint32_t, llvm::SmallDenseSet<uint64_t>> mergedWindows;
  /// Strings that the front refers to.
  llvm::SmallVector<llvm::StringRef, 0> strings;
};

/// All objects of one search.
template <class ELFT> struct ObjectScans {
  std::vector<ObjectScan<ELFT>> all;
  unsigned numThreads;

  /// Runs `f` on each object, in parallel; `f` changes nothing but its argument.
  template <class F> void forEach(F f) {
    shareWork(numThreads, all.size(), [&](size_t i) {
      if (all[i].object)
        f(all[i]);
    });
  }
};

} // namespace frontload
