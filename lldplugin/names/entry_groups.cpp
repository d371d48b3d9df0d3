//===- entry_groups.cpp - entries of a profile that are found alike --------===//

#include "names/entry_groups.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

void GroupFinds::note(uint32_t group, FindRank rank) {
  if (!groups.isShared(group))
    return found.note(group, rank);
  FindRank &best = shared[groups.shared(group)].best;
  best = std::min(best, rank);
}

void GroupFinds::endNotes() {
  for (auto [number, group] : enumerate(shared))
    if (group.best.isFound())
      for (uint32_t entry : groups.sharedEntries(uint32_t(number)))
        found.note(entry, group.best);
  // Only when all groups are noted: an entry is in several, or found by itself.
  for (auto [number, group] : enumerate(shared))
    if (group.best.isFound())
      for (uint32_t entry : groups.sharedEntries(uint32_t(number)))
        if (found.best(entry) == group.best)
          group.open.push_back(entry);
}

void GroupFinds::accept(uint32_t group, FindRank rank, const Definition &definition,
                        function_ref<void(uint32_t)> visit) {
  if (!groups.isShared(group)) {
    if (found.accept(group, rank, definition))
      visit(group);
    return;
  }
  Shared &finds = shared[groups.shared(group)];
  if (rank != finds.best)
    return;
  erase_if(finds.open, [&](uint32_t entry) {
    bool isAccepted = found.accept(entry, rank, definition);
    if (isAccepted)
      visit(entry);
    return !isAccepted; // the entry has all finds that count
  });
}

} // namespace frontload
