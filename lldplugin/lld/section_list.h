// lld's list of all sections.
//
// For each pattern of a script lld goes through all sections of the link: 9 ms of 900 in a large
// link, for each of the front's patterns. While lld places the front, its list has only the
// sections that may belong there (placing.h).
//
// Only time depends on this. The list is recognized by how it grows, and used only if it is long,
// and if lld has only added to it since; otherwise lld keeps it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

namespace lld::elf {
struct Ctx;
} // namespace lld::elf

namespace frontload {

/// How a section of lld 22 begins (SectionBase in its InputSection.h). The real one is larger.
struct SectionHead {
  const void *file;
  llvm::StringRef name;
  uint64_t flags;
  uint32_t type, link, info, alignment, entrySize;
  uint8_t kind;
  uint8_t partition; ///< 0: --gc-sections drops it

  bool isLive() const { return partition; }
};

inline SectionHead headOfSection(const void *section) {
  SectionHead head;
  std::memcpy(static_cast<void *>(&head), section, sizeof(head));
  return head;
}

/// The name of one of lld's sections. Another thread may meanwhile change the rest of it.
inline llvm::StringRef nameOf(const void *section) {
  llvm::StringRef name;
  std::memcpy(static_cast<void *>(&name),
              static_cast<const char *>(section) + offsetof(SectionHead, name), sizeof(name));
  return name;
}

class SectionList {
public:
  using AnyVector = llvm::SmallVectorBase<uint32_t>;
  using Sections = llvm::SmallVector<const void *, 0>;

  /// Begins to look for lld's list among the vectors that this thread grows in `ctx`: to be called
  /// before lld gathers its sections. Lists of fewer than `minSections` are ignored.
  void beginSearch(lld::elf::Ctx &ctx, size_t minSections);
  /// A vector is about to have room for `minSize` elements of `elementSize` bytes.
  void meet(AnyVector *vector, size_t minSize, size_t elementSize);
  void endSearch() { isSearching.store(false, std::memory_order_relaxed); }

  /// Whether the list is known.
  bool isKnown() const { return found; }
  /// All sections, also while others are in their place.
  llvm::ArrayRef<const void *> sections() const { return numReplaced ? whole : *found; }
  /// Puts other sections in the place of the list.
  void replace(Sections sections);
  /// Makes the list whole again, with the sections added meanwhile at its end.
  void restore();

private:
  std::atomic<bool> isSearching = false;
  std::thread::id thread;
  uintptr_t begin = 0, end = 0; ///< of lld's context
  size_t largest = 0;
  Sections *found = nullptr;
  Sections whole;         ///< while the list is replaced
  size_t numReplaced = 0; ///< how many sections are in its place then, else 0
};

} // namespace frontload
