//===- hot_strings.h - gathers the strings of startup in a merged section --===//
//
// The linker merges the strings of all objects into one section, in which those that startup reads
// lie scattered: on cc1 165 KB of 2.4 MB. A linker that keeps merged strings in the order of a few
// leading bits of their hashes (lld's shards) can be told an order by way of the hash: here hot
// strings get the lowest bits, and all others any but these. So the section begins with the hot
// strings, which is as far as the front reaches, and goes on with the others, without any
// string being split from its section, kept twice, or written by us.
//
// A string is known by its contents, which survive a relink, whatever object they come from.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_HOT_STRINGS_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_HOT_STRINGS_H

#include "names/name_filter.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <cstdint>
#include <vector>

namespace frontload {

/// Whether the section of this name holds merged strings that are gathered: of one-byte characters,
/// and aligned to one byte, which is how compilers name them.
inline bool isStringSection(llvm::StringRef name) {
  return name.starts_with(".rodata.") && name.ends_with(".str1.1");
}

class HotStrings {
public:
  /// Adds a string, without its terminating zero, which must outlive this.
  void add(llvm::StringRef contents);
  /// The strings that were added, each once.
  llvm::ArrayRef<llvm::StringRef> contents() const { return strings; }

  /// To be called when the linker meets a string whose hash is `hash` (XXH3, 64 bits); hot ones are
  /// then known to be in the link. Returns the hash that the linker is to take. Threads may call it
  /// in parallel.
  uint64_t meet(uint64_t hash) {
    uint64_t rest = hash & ~shardBits;
    return seeHash(hash) ? rest : rest | std::max(hash & shardBits, lowestOtherShard);
  }

  /// The same for a linker that takes the hash by itself.
  void see(llvm::StringRef contents);

  /// Counts the hot strings that lie at the beginning of `section`, a merged section of
  /// zero-terminated strings, as placed. Returns how many bytes they are.
  uint64_t placePrefix(llvm::StringRef section);
  /// What became of a hot string: nothing in the link has it, something has, which may be debug
  /// information or a section that is not gathered, or it is placed.
  enum class State : uint8_t { Absent, Elsewhere, Placed };
  State state(llvm::StringRef contents) const;

  /// lld keeps 31 bits of a hash, without the lowest of the low 32, and shards by the five highest
  /// of them (MergeNoTailSection).
  static constexpr uint64_t shardBits = uint64_t(31) << 27;
  static constexpr uint64_t lowestOtherShard = uint64_t(1) << 27;

private:
  /// Whether a hot string has this hash, which is then in the link.
  bool seeHash(uint64_t hash);

  /// Nearly all strings of a link are cold.
  NameFilter filter{1 << 20};
  std::vector<llvm::StringRef> strings;
  /// By hash. To be written atomically.
  llvm::DenseMap<uint64_t, State> known;
};

} // namespace frontload

#endif
