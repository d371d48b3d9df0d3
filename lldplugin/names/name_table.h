//===- name_table.h - looks the names of a link up in a profile ------------===//
//
// The link has millions of names, the profile thousands. So the profile is kept in a table, by the
// parts of names that later builds share (name_parts.h), and each name of the link is looked up in
// it. Which of several finds counts is decided when all finds are known.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_NAME_TABLE_H
#define FRONTLOAD_LLDPLUGIN_NAMES_NAME_TABLE_H

#include "names/entry_groups.h"
#include "names/hashed_name.h"
#include "names/name_filter.h"
#include "names/name_parts.h"
#include "names/rust_paths.h"
#include "profile/startup_profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"
#include <cstdint>
#include <utility>
#include <vector>

namespace frontload {

class NameTable {
public:
  /// Of the functions and data of `profile`, which must outlive the table.
  explicit NameTable(const StartupProfile &profile);

  /// A group of entries that a symbol may stand for.
  struct Match {
    uint32_t group; ///< of groups()
    Likeness likeness;
    bool isOfFile; ///< these are entries of one of the `files`
  };
  using Visit = llvm::function_ref<void(const Match &match)>;
  /// Calls `visit` for each group of entries that a symbol of this name may stand for, once for
  /// each likeness. `files` are the names that entries may give the file of a local symbol. Of
  /// entries that share a name or stem, only those of these files and a few others are looked at:
  /// which of many similar entries is found does not matter, but time does.
  ///
  /// Entries of a group may also be visited by themselves, because they have the exact name or one
  /// of the files. By any FindRank, these visits are better.
  void find(const HashedName &name, llvm::ArrayRef<llvm::CachedHashStringRef> files,
            Visit visit) const {
    bool mayBeKnown = heads.mayContain(name.hashOfHead());
    if (mayBeKnown || (!rustPaths.forms.empty() && isRustV0(name.text()))) // few names
      findThorough(name, files, visit);
  }
  /// The groups: their entries have the same kind, and either all have a file or none does.
  const EntryGroups &groups() const { return entryGroups; }

private:
  /// Entries that share one form of their names, and have the same parts. The parts are not kept:
  /// of a million entries, few are compared with anything.
  struct Wanted {
    uint32_t group;
    uint32_t next;  ///< the next one of the form
    Likeness least; ///< the best likeness that the form allows
    EntryKind kind;
    bool tellsFile;
  };
  static constexpr uint32_t none = UINT32_MAX;
  /// The first Wanted that has a text as its name, and as its stem. Nearly all texts are both, and
  /// looking one up means waiting for memory.
  struct Form {
    uint32_t byName = none, byStem = none;
  };
  struct Index {
    llvm::DenseMap<llvm::CachedHashStringRef, Form> forms;
    /// Entries with a file: by the text, and the file's number.
    llvm::DenseMap<std::pair<llvm::CachedHashStringRef, uint32_t>, Form> ofFile;
  };
  void add(Index &index, uint32_t Form::*list, llvm::CachedHashStringRef text, uint32_t entry,
           const NameParts &parts, Likeness least);
  void addTo(uint32_t &first, const Wanted &fresh, const NameParts &parts);
  NameParts partsOf(const Wanted &wanted) const {
    return takeApart(profile.entries[entryGroups.first(wanted.group)].name);
  }
  void findThorough(const HashedName &name, llvm::ArrayRef<llvm::CachedHashStringRef> files,
                    Visit visit) const;
  template <class F>
  void forEach(const Index &index, uint32_t Form::*list, llvm::CachedHashStringRef text,
               llvm::ArrayRef<llvm::CachedHashStringRef> files, F f) const;

  const StartupProfile &profile;
  /// The heads of the stems: a name with another head is not in the table.
  NameFilter heads;
  /// The stems of entries that have other names: a name without a suffix may match them.
  NameFilter otherStems;
  Index names, rustPaths;
  llvm::DenseMap<llvm::CachedHashStringRef, uint32_t> fileNumbers;
  std::vector<Wanted> all;
  EntryGroups entryGroups;
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver{allocator};
};

} // namespace frontload

#endif
