//===- name_table.h - looks the names of a link up in a profile ------------===//
//
// The link has millions of names, the profile thousands: so it is the profile that is kept in a
// table, by what names have in common with their later forms (name_parts.h), and each name of the
// link is looked up in it. Which of several finds is meant is decided when all are known.
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
  /// each likeness. `files` is what entries may call the file of the symbol, if it is local. Of
  /// entries that share a name, or a stem, only those of these files and a few others are looked
  /// at: where so many are not told apart it does not matter which of them it is, but time does.
  ///
  /// A group of several may have entries that are visited by themselves, too, because they have the
  /// very name or are of one of the files. These mean more then, by any FindRank.
  void find(const HashedName &name, llvm::ArrayRef<llvm::CachedHashStringRef> files,
            Visit visit) const {
    bool mayBeKnown = heads.mayContain(name.hashOfHead());
    if (mayBeKnown || (!rustPaths.forms.empty() && isRustV0(name.text()))) // as hardly any
      findThorough(name, files, visit);
  }
  /// The groups of entries that have the same kind, and tell their file or do not.
  const EntryGroups &groups() const { return entryGroups; }

private:
  /// Entries that are found by one form of their names, and have the same parts. These are not
  /// kept: a profile may have a million entries, and few of them are compared with anything.
  struct Wanted {
    uint32_t group;
    uint32_t next;  ///< the following one of the form
    Likeness least; ///< what the form costs
    EntryKind kind;
    bool tellsFile;
  };
  static constexpr uint32_t none = UINT32_MAX;
  /// What a text finds, if it is a name or a stem: the first that is wanted, or none. Nearly all
  /// texts are both, and to look one up is to wait for memory.
  struct Form {
    uint32_t byName = none, byStem = none;
  };
  struct Index {
    llvm::DenseMap<llvm::CachedHashStringRef, Form> forms;
    /// Of the entries that tell their file: by the text, and the file's number.
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
  /// Of the stems: what has another head is not in the table.
  NameFilter heads;
  /// The stems that an entry shares with names without a suffix, though it is not such a name.
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
