// Rules out quickly that a name is in a set.
//
// A link has millions of symbols, and hardly any is in the set that is looked up. Looking a name up
// begins with its hash, so each is hashed once. A bitmap that stays in the cache rules a name out
// with one load; a hash table would cost a cache miss.
#pragma once

#include "names/name_parts.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace frontload {

/// A name as the key of a table. LLVM's own hash of a string takes three times as long.
inline llvm::CachedHashStringRef hashName(llvm::StringRef name) {
  return {name, static_cast<uint32_t>(llvm::xxh3_64bits(name))};
}

/// A name with the hash of its head, which for nearly all names is the whole name.
class HashedName {
public:
  explicit HashedName(llvm::StringRef n)
      : name(n), head(headOf(n)), headHash(hashName(head).hash()) {}

  llvm::StringRef text() const { return name; }
  /// The name behind the head.
  llvm::StringRef suffixes() const { return name.drop_front(head.size()); }
  /// The hash of headOf() the name.
  uint32_t hashOfHead() const { return headHash; }
  /// Whether the name is all head.
  bool isPlain() const { return head.size() == name.size(); }
  /// The same as hashName() of the name.
  llvm::CachedHashStringRef whole() const {
    return isPlain() ? llvm::CachedHashStringRef(name, headHash) : hashName(name);
  }

private:
  llvm::StringRef name, head;
  uint32_t headHash;
};

/// A set of names, by their hashes, that may answer yes for a name that is not in it. Threads may
/// add in parallel.
class NameFilter {
public:
  /// `numBits` is a power of two.
  explicit NameFilter(uint32_t numBits) : mask(numBits - 1), words(numBits / 64) {}

  void add(uint32_t hash) {
    if (!mayContain(hash)) // reading is cheaper, and most names are in many objects
      words[index(hash)].fetch_or(bit(hash), std::memory_order_relaxed);
  }
  bool mayContain(uint32_t hash) const {
    return words[index(hash)].load(std::memory_order_relaxed) & bit(hash);
  }

private:
  size_t index(uint32_t hash) const { return (hash & mask) / 64; }
  static uint64_t bit(uint32_t hash) { return uint64_t(1) << (hash % 64); }

  uint32_t mask;
  std::vector<std::atomic<uint64_t>> words;
};

/// The size of a filter for `numNames` with `bitsEach` for each of them: one in `bitsEach` other
/// names passes it.
inline uint32_t filterBits(size_t numNames, size_t bitsEach, size_t minBits) {
  constexpr size_t maxBits = size_t(1) << 28;
  return uint32_t(std::clamp(size_t(llvm::PowerOf2Ceil(numNames * bitsEach)), minBits, maxBits));
}

/// The hash of a name that is identified by its address.
inline uint32_t hashOfAddress(const char *name) {
  return llvm::densemap::detail::mix(reinterpret_cast<uintptr_t>(name));
}

} // namespace frontload
