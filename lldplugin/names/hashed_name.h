//===- hashed_name.h - a name of the link, hashed once ---------------------===//
//
// Looking a name up begins with its hash, and a link has millions of names, so each is hashed once.
// The hash covers the name's head, which for nearly all names is the whole name.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_HASHED_NAME_H
#define FRONTLOAD_LLDPLUGIN_NAMES_HASHED_NAME_H

#include "names/name_parts.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/Support/xxhash.h"

namespace frontload {

/// A name as the key of a table. LLVM's own hash of a string takes three times as long.
inline llvm::CachedHashStringRef hashName(llvm::StringRef name) {
  return {name, static_cast<uint32_t>(llvm::xxh3_64bits(name))};
}

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

} // namespace frontload

#endif
