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
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

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
    if (mayBeKnown || (!byRustPath.all.empty() && isRustV0(name.text()))) // as hardly any
      findThorough(name, files, visit);
  }
  /// The groups of entries that have the same kind, and tell their file or do not.
  const EntryGroups &groups() const { return entryGroups; }

private:
  /// Entries that are found by one form of their names, and have the same parts. These are not
  /// kept: a profile may have a million entries, and few of them are compared with anything.
  struct Wanted {
    uint32_t group;
    Likeness least; ///< what the form costs
    EntryKind kind;
    bool tellsFile;
  };
  struct Forms {
    llvm::SmallVector<Wanted, 1> wanted;
    uint32_t numEntries = 0;
  };
  /// The entries of a form, and those of them that tell their file.
  struct Index {
    llvm::DenseMap<llvm::CachedHashStringRef, Forms> all;
    llvm::DenseMap<std::pair<llvm::CachedHashStringRef, llvm::CachedHashStringRef>, Forms> ofFile;
  };
  void add(Index &index, llvm::CachedHashStringRef form, uint32_t entry, const NameParts &parts,
           Likeness least);
  NameParts partsOf(const Wanted &wanted) const {
    return takeApart(profile.entries[entryGroups.first(wanted.group)].name);
  }
  void findThorough(const HashedName &name, llvm::ArrayRef<llvm::CachedHashStringRef> files,
                    Visit visit) const;
  template <class F>
  void forEach(const Index &index, llvm::CachedHashStringRef form,
               llvm::ArrayRef<llvm::CachedHashStringRef> files, F f) const;

  const StartupProfile &profile;
  /// Of the stems: what has another head is not in the table.
  NameFilter heads{1 << 19};
  /// The stems that an entry shares with names without a suffix, though it is not such a name.
  NameFilter otherStems{1 << 16};
  Index byName, byStem, byRustPath;
  EntryGroups entryGroups;
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver{allocator};
};

} // namespace frontload

#endif
