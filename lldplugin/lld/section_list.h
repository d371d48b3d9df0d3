//===- section_list.h - lld's list of all sections, made short -------------===//
//
// For each pattern of a script lld goes through all sections of the link: 9 ms of 900 in a large
// link, for each of the front's patterns. But the first of these patterns finds the few sections
// that belong to the front. For the other patterns, lld is given a list of only these sections.
//
// Only time depends on this. lld's list is recognized by how it grows, and used only if it has the
// names of all sections of the front that lld has asked for; otherwise lld keeps its list.
//
//===----------------------------------------------------------------------===//

#pragma once

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

  /// Begins to look for lld's list among the vectors that this thread grows in `ctx`: to be called
  /// before lld gathers its sections. Lists of fewer than `minSections` are ignored.
  void beginSearch(lld::elf::Ctx &ctx, size_t minSections);
  /// A vector is about to have room for `minSize` elements of `elementSize` bytes.
  void meet(AnyVector *vector, size_t minSize, size_t elementSize);
  void endSearch() { isSearching.store(false, std::memory_order_relaxed); }

  /// Leaves in lld's list only the sections with these names (by address, in lld's order), sections
  /// called `other`, and a few more. Returns whether it did.
  bool shorten(llvm::ArrayRef<const char *> names, llvm::StringRef other);
  /// Makes the list whole again, with the sections added meanwhile at its end.
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
