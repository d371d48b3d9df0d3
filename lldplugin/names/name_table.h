// Looks the names of a link up in a profile.
//
// The link has millions of names, the profile thousands. So the profile is kept in a table, by the
// parts of names that later builds share (name_parts.h), and each name of the link is looked up in
// it. Which of several finds counts is decided when all finds are known.
//
// Stable names (mangled_names.h) cost a thousand times as much as hashes. So they are compared in a
// second pass through the link, for the entries that the first one did not find, and made of those
// names that begin like one of these entries.
#pragma once

#include "names/name_hashes.h"
#include "names/name_parts.h"
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

  /// An entry that a symbol may stand for.
  struct Match {
    uint32_t entry;
    Likeness likeness;
    bool isOfFile; ///< the entry is of one of the `files`
  };
  using Visit = llvm::function_ref<void(const Match &match)>;
  /// Calls `visit` for each entry that a symbol of this name may stand for, once for each likeness.
  /// `files` are the names that entries may give the file of a local symbol. Of entries that share
  /// a name or stem, only those of these files and a few others are looked at: which of many
  /// similar entries is found does not matter, but time does.
  void find(const HashedName &name, llvm::ArrayRef<llvm::CachedHashStringRef> files,
            Visit visit) const {
    if (heads.mayContain(name.hashOfHead())) // few names
      findThorough(name, files, visit);
  }

  /// Prepares findStable() for the entries that `isSettled` is false of. Returns whether there are
  /// any.
  bool prepareStable(llvm::function_ref<bool(uint32_t entry)> isSettled);
  /// The same as find() for entries that have the same stable name.
  void findStable(llvm::StringRef name, llvm::ArrayRef<llvm::CachedHashStringRef> files,
                  Visit visit) const;

private:
  /// An entry, by one form of its name. The parts of the name are not kept: of a million entries,
  /// few are compared with anything.
  struct Wanted {
    uint32_t entry;
    uint32_t next;  ///< the next one of the form
    Likeness least; ///< the best likeness that the form allows
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
           Likeness least);
  void addTo(uint32_t &first, uint32_t entry, Likeness least);
  void addStable(llvm::StringRef stem, uint32_t entry);
  bool mayBeStable(llvm::StringRef name) const;
  /// Compares a name of the link with an entry of the same stem.
  void visitAlike(const Wanted &wanted, bool isOfFile, llvm::StringRef name, const NameParts &parts,
                  Visit visit) const;
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
  Index names;
  /// By the stable names of the entries that are left. `stableNames` are these names, sorted, to
  /// look for a beginning. `stableHeads` has the heads of the stable names that differ from their
  /// stems: a symbol of the link may have such a name without a change.
  Index stable;
  std::vector<llvm::StringRef> stableNames;
  NameFilter stableHeads;
  bool hasChanging = false;
  llvm::DenseMap<llvm::CachedHashStringRef, uint32_t> fileNumbers;
  std::vector<Wanted> all;
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver{allocator};
};

} // namespace frontload
