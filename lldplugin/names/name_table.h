//===- name_table.h - looks the names of a link up in a profile ------------===//
//
// The link has millions of names, the profile thousands: so it is the profile that is kept in a
// table, by what names have in common with their later forms (name_parts.h), and each name of the
// link is looked up in it. Which of several finds is meant is decided when all are known.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_NAME_TABLE_H
#define FRONTLOAD_LLDPLUGIN_NAMES_NAME_TABLE_H

#include "../name_filter.h"
#include "../startup_profile.h"
#include "name_parts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/StringSaver.h"

namespace frontload {

class NameTable {
public:
  /// As how many entries a symbol should pass that is not exactly any of them. Where so many
  /// namesakes are not told apart, it does not matter which of them it is, but memory does.
  static constexpr uint32_t mostInexact = 32;

  /// Of the functions and data of `profile`, which must outlive the table.
  explicit NameTable(const StartupProfile &profile);

  /// Calls `visit(entry, likeness)` for each entry that a symbol of this name may stand for, at
  /// most once for each.
  void find(llvm::StringRef name,
            llvm::function_ref<void(uint32_t entry, Likeness likeness)> visit) const;

private:
  /// An entry that names of a stem may stand for.
  struct Wanted {
    uint32_t entry;
    NameParts parts;
    bool isVariant; ///< the stem is that of another variant
  };
  void want(llvm::StringRef stem, const Wanted &wanted);

  const StartupProfile &profile;
  NameFilter stems{1 << 19};
  /// The stems that an entry shares with names without a suffix, though it is not such a name.
  NameFilter otherStems{1 << 16};
  /// A name's last entry; the others of the same name follow through sameName.
  llvm::DenseMap<llvm::CachedHashStringRef, uint32_t> lastEntry;
  std::vector<uint32_t> sameName;
  /// By stem, the first of the entries that share it.
  llvm::DenseMap<llvm::CachedHashStringRef, llvm::SmallVector<Wanted, 1>> byStem;
  /// The same by the demangled form of Rust's v0 names.
  llvm::DenseMap<llvm::CachedHashStringRef, llvm::SmallVector<Wanted, 1>> byPath;
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver{allocator};
};

} // namespace frontload

#endif
