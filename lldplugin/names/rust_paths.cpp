//===- rust_paths.cpp - what of a Rust name stays across rebuilds ----------===//
//
// The v0 mangling writes a crate as `C`, its hash as `s` and a number of base 62 with `_` behind
// it, and its name. What comes later refers to what came before by its offset (`B` and a number),
// so with the hashes the offsets change, too. A name is gone through once, identifiers (a length,
// and as many bytes) in one piece; it is not demangled, which takes time that doubles with every
// reference back.
//
//===----------------------------------------------------------------------===//

#include "rust_paths.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

/// Takes a number of base 62 and the `_` behind it from `text`; `_` alone is 0, and each number one
/// more than its digits say.
static std::optional<uint64_t> takeBase62(StringRef &text) {
  StringRef digits = text.take_while(isAlnum);
  if (digits.size() == text.size() || text[digits.size()] != '_')
    return std::nullopt;
  uint64_t value = 0;
  for (char c : digits)
    value = value * 62 + (isDigit(c) ? c - '0' : isLower(c) ? c - 'a' + 10 : c - 'A' + 36);
  text = text.drop_front(digits.size() + 1);
  return digits.empty() ? 0 : value + 1;
}

std::string withoutCrateHashes(StringRef name) {
  StringRef text = name;
  text.consume_front("_R");
  const char *begin = text.begin(); // offsets count from here
  struct Removed {
    uint64_t end, bytes; ///< of this and those before
  };
  SmallVector<Removed, 8> removed;
  std::string result;
  while (!text.empty()) {
    char c = text.front();
    if (isDigit(c)) {
      StringRef piece = text;
      uint64_t length;
      if (text.consumeInteger(10, length))
        length = 0;
      text.consume_front("_");
      text = text.drop_front(std::min<uint64_t>(length, text.size()));
      result += piece.drop_back(text.size());
      continue;
    }
    text = text.drop_front();
    result += c;
    StringRef rest = text;
    if (c == 'C' && rest.consume_front("s") && takeBase62(rest)) {
      uint64_t before = removed.empty() ? 0 : removed.back().bytes;
      removed.push_back({uint64_t(rest.begin() - begin), before + (text.size() - rest.size())});
      text = rest;
    } else if (rest = text; c == 'B') {
      if (std::optional<uint64_t> target = takeBase62(rest)) {
        auto after = llvm::upper_bound(
            removed, *target, [](uint64_t offset, const Removed &r) { return offset < r.end; });
        result += utostr(*target - (after == removed.begin() ? 0 : std::prev(after)->bytes)) + '_';
        text = rest;
      }
    }
  }
  return result;
}

} // namespace frontload
