// Gathers the strings of startup in a merged section.
//
// The linker merges the strings of all objects into one section, in which the strings that startup
// reads are scattered: on cc1 165 KB of 2.4 MB. A linker that orders merged strings by a few
// leading bits of their hashes (lld's shards) can be given an order by changing the hashes: here
// hot strings get the lowest bits, and no other string gets them. So the section begins with the
// hot strings, and no string is split from its section, kept twice, or written by us.
//
// Strings are identified by their contents, which survive a relink, whatever their object is.
#pragma once

#include "names/name_hashes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"
#include <algorithm>
#include <atomic>
#include <cstdint>

namespace frontload {

/// Whether a section with this name holds merged strings of one-byte characters, aligned to one
/// byte: only these are gathered.
inline bool isStringSection(llvm::StringRef name) {
  return name.starts_with(".rodata.") && name.ends_with(".str1.1");
}

class HotStrings {
public:
  /// Adds a string without its terminating zero.
  void add(llvm::StringRef contents) {
    uint64_t hash = llvm::xxh3_64bits(contents);
    if (hash >= ~uint64_t(0) - 1)
      return; // DenseMap reserves these two keys
    filter.add(uint32_t(hash));
    known.try_emplace(hash, State::Absent);
  }

  /// To be called when the linker meets a string with this `hash` (XXH3, 64 bits): notes hot
  /// strings as linked. Returns the hash for the linker to use. Threads may call it in parallel.
  uint64_t meet(uint64_t hash) {
    const uint64_t rest = hash & ~shardBits;
    if (filter.mayContain(uint32_t(hash)))
      if (auto it = known.find(hash); it != known.end()) {
        std::atomic_ref(it->second).store(State::Elsewhere, std::memory_order_relaxed);
        return rest;
      }
    return rest | std::max(hash & shardBits, lowestOtherShard);
  }

  /// Marks the hot strings at the beginning of `section`, a merged section of zero-terminated
  /// strings, as placed. Returns their size in bytes.
  uint64_t placePrefix(llvm::StringRef section) {
    llvm::StringRef rest = section;
    for (size_t end; (end = rest.find('\0')) != llvm::StringRef::npos;) {
      auto it = known.find(llvm::xxh3_64bits(rest.take_front(end)));
      if (it == known.end())
        break;
      it->second = State::Placed;
      rest = rest.drop_front(end + 1);
    }
    return section.size() - rest.size();
  }
  /// What became of a hot string: it is not in the link; it is, perhaps only in debug information
  /// or in a section that is not gathered; or it is placed.
  enum class State : uint8_t { Absent, Elsewhere, Placed };
  State state(llvm::StringRef contents) const { return known.lookup(llvm::xxh3_64bits(contents)); }

private:
  /// lld keeps bits 1 to 31 of a hash, and shards by the five highest of them (MergeNoTailSection).
  static constexpr uint64_t shardBits = uint64_t(31) << 27;
  static constexpr uint64_t lowestOtherShard = uint64_t(1) << 27;

  /// Nearly all strings of a link are cold.
  NameFilter filter{1 << 20};
  /// By hash. To be written atomically.
  llvm::DenseMap<uint64_t, State> known;
};

} // namespace frontload
