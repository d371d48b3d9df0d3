//===- name_filter.h - tells quickly that a name is not in a set -----------===//
//
// A link has millions of symbols, and hardly any is in the set that one looks for. A bitmap that
// stays in the cache answers that at the cost of one load, where a hash table would cost a cache
// miss.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAME_FILTER_H
#define FRONTLOAD_LLDPLUGIN_NAME_FILTER_H

#include "llvm/ADT/CachedHashString.h"
#include <atomic>
#include <vector>

namespace frontload {

/// A set of names that may answer yes for a name that is not in it. Threads may add in parallel.
class NameFilter {
public:
  /// `numBits` is a power of two; an eighth of a byte each.
  explicit NameFilter(uint32_t numBits) : mask(numBits - 1), words(numBits / 64) {}

  void add(llvm::CachedHashStringRef name) {
    if (!mayContain(name)) // reading is cheaper, and most names are in many objects
      words[index(name)].fetch_or(bit(name), std::memory_order_relaxed);
  }
  bool mayContain(llvm::CachedHashStringRef name) const {
    return words[index(name)].load(std::memory_order_relaxed) & bit(name);
  }

private:
  size_t index(llvm::CachedHashStringRef name) const { return (name.hash() & mask) / 64; }
  static uint64_t bit(llvm::CachedHashStringRef name) { return uint64_t(1) << (name.hash() % 64); }

  uint32_t mask;
  std::vector<std::atomic<uint64_t>> words;
};

} // namespace frontload

#endif
