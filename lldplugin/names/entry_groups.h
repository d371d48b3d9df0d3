//===- entry_groups.h - entries of a profile that are found alike ----------===//
//
// A profile may have many entries of one stem (`f.llvm.1`, `f.llvm.2`, ...), and a link many more
// symbols of it. Where no symbol has the exact name of an entry, each symbol may be each of the
// entries. So finds are noted for a group of entries that nothing tells apart: noting them for each
// entry takes the time and memory of both numbers' product.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_ENTRY_GROUPS_H
#define FRONTLOAD_LLDPLUGIN_NAMES_ENTRY_GROUPS_H

#include "names/found_names.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace frontload {

class EntryGroups {
public:
  /// Each entry is a group by itself, with its own number; groups of several have higher numbers.
  explicit EntryGroups(size_t n) : numEntries(n) {}

  /// The group that `group` becomes with one entry more.
  uint32_t join(uint32_t group, uint32_t entry) {
    if (!isShared(group)) {
      members.push_back({group});
      group = uint32_t(numEntries + members.size() - 1);
    }
    members[group - numEntries].push_back(entry);
    return group;
  }
  bool isShared(uint32_t group) const { return group >= numEntries; }
  uint32_t numShared() const { return uint32_t(members.size()); }
  /// The number of a shared group among the shared ones, and the entries of a shared group.
  uint32_t shared(uint32_t group) const { return uint32_t(group - numEntries); }
  llvm::ArrayRef<uint32_t> sharedEntries(uint32_t number) const { return members[number]; }

  size_t size(uint32_t group) const {
    return isShared(group) ? sharedEntries(shared(group)).size() : 1;
  }
  uint32_t first(uint32_t group) const {
    return isShared(group) ? sharedEntries(shared(group)).front() : group;
  }
  /// Calls `f` with each entry of a group.
  template <class F> void forEach(uint32_t group, F f) const {
    if (isShared(group))
      llvm::for_each(sharedEntries(shared(group)), f);
    else
      f(group);
  }

private:
  size_t numEntries;
  std::vector<llvm::SmallVector<uint32_t, 0>> members;
};

/// The finds of one search for groups. Passes them to FoundNames for each entry, in no more time
/// than there are finds.
class GroupFinds {
public:
  GroupFinds(const EntryGroups &g, FoundNames &f) : groups(g), found(f), shared(g.numShared()) {}

  /// As in FoundNames: first all finds are noted, ...
  void note(uint32_t group, FindRank rank);
  /// ... which this ends, ...
  void endNotes();
  /// ... then each find is passed again, in the order of the link. Calls `visit` for each entry for
  /// which the find counts.
  void accept(uint32_t group, FindRank rank, const Definition &definition,
              llvm::function_ref<void(uint32_t entry)> visit);

private:
  struct Shared {
    FindRank best;
    /// The entries that take more finds of this rank.
    llvm::SmallVector<uint32_t, 0> open;
  };
  const EntryGroups &groups;
  FoundNames &found;
  std::vector<Shared> shared;
};

} // namespace frontload

#endif
