//===- section_list.h - lld's list of all sections, made short -------------===//
//
// For each pattern of a script lld goes through all sections of the link. Of a large link that is
// 9 ms of 900 for each of the front's patterns, though all but the first of them may stop at the
// few sections of which the first has told that they belong to the front. So lld's list is
// exchanged for a list of these as long as lld goes on.
//
// Only time depends on this. lld's list is found by how it grows, and believed only if it holds, by
// their names, all that lld has asked for; if none does, lld keeps it as it is.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_SECTION_LIST_H
#define FRONTLOAD_LLDPLUGIN_LLD_SECTION_LIST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace lld::elf {
struct Ctx;
} // namespace lld::elf

namespace frontload {

class SectionList {
public:
  using AnyVector = llvm::SmallVectorBase<uint32_t>;

  /// Begins to look for the list among what grows in `ctx` by this thread: to be called before lld
  /// gathers its sections. Lists of fewer than `least` are not looked for.
  void beginSearch(lld::elf::Ctx &ctx, size_t least);
  /// A vector is about to have room for `minSize` elements of `elementSize` bytes.
  void meet(AnyVector *vector, size_t minSize, size_t elementSize);
  void endSearch() { isSearching.store(false, std::memory_order_relaxed); }

  /// Leaves in lld's list only the sections whose names are at these addresses, which lld has come
  /// across in this order, those that are called `other`, and a few more. Returns whether it did.
  bool shorten(llvm::ArrayRef<const char *> names, llvm::StringRef other);
  /// Makes the list what it was, with what was added meanwhile at its end.
  void restore();

private:
  using Sections = llvm::SmallVector<const void *, 0>;

  std::atomic<bool> isSearching = false;
  std::thread::id thread;
  uintptr_t begin = 0, end = 0; ///< of lld's context
  size_t largest = 0;
  Sections *found = nullptr;
  Sections whole;       ///< while the list is short
  size_t shortSize = 0; ///< of the list while it is short, else 0
};

} // namespace frontload

#endif
