//===- rust_paths.cpp - what of a Rust name stays across rebuilds ----------===//
//
// The v0 mangling writes a crate as `C`, its hash as `s` and a number of base 62 with `_` behind
// it, and its name. What comes later refers to what came before by its offset (`B` and a number),
// so with the hashes the offsets change, too. A name is gone through once, identifiers (a length,
// and as many bytes) in one piece; it is not demangled, which takes time that doubles with every
// reference back.
//
//===----------------------------------------------------------------------===//

#include "names/rust_paths.h"
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

namespace {
/// One way through a name.
class Walk {
public:
  explicit Walk(StringRef name) : begin(name.begin()), text(name) {}

  std::string run() {
    while (!text.empty())
      step();
    return std::move(result);
  }

private:
  void step() {
    if (isDigit(text.front()))
      return identifier();
    char c = text.front();
    copy(1);
    switch (c) {
    case 'C': // a crate, and its hash
    case 'M': // an implementation, which is the how manieth of its module
    case 'X':
      return dropDisambiguator();
    case 'B':
      return reference();
    case 'K': // a constant: its type, and hexadecimal digits
      return copy(std::min(text.find('_'), text.size()));
    case 's': // which of the same name; or a type
    case 'L': // a lifetime
    case 'G': // how many lifetimes
      if (StringRef rest = text; takeBase62(rest) && text.size() - rest.size() <= mostOfCount)
        copy(text.size() - rest.size());
      return;
    default:
      return;
    }
  }

  void copy(size_t size) {
    result += text.take_front(size);
    text = text.drop_front(size);
  }

  void identifier() {
    StringRef digits = text.take_while(isDigit), rest = text.drop_front(digits.size());
    uint64_t length; // what is longer than any text is no length
    if (digits.getAsInteger(10, length))
      length = 0;
    rest.consume_front("_");
    rest = rest.drop_front(std::min<uint64_t>(length, rest.size()));
    copy(text.size() - rest.size());
  }

  void dropDisambiguator() {
    StringRef rest = text;
    if (!rest.consume_front("s") || !takeBase62(rest))
      return;
    uint64_t before = removed.empty() ? 0 : removed.back().bytes;
    removed.push_back({uint64_t(rest.begin() - begin), before + (text.size() - rest.size())});
    text = rest;
  }

  void reference() {
    StringRef rest = text;
    std::optional<uint64_t> target = takeBase62(rest);
    if (!target)
      return;
    auto after = llvm::upper_bound(
        removed, *target, [](uint64_t offset, const Removed &r) { return offset < r.end; });
    result += utostr(*target - (after == removed.begin() ? 0 : std::prev(after)->bytes)) + '_';
    text = rest;
  }

  /// Bytes of a number that counts what a person wrote.
  static constexpr size_t mostOfCount = 3;
  struct Removed {
    uint64_t end, bytes; ///< of this and those before
  };

  const char *begin; ///< offsets count from here
  StringRef text;    ///< what is still to come
  SmallVector<Removed, 8> removed;
  std::string result;
};
} // namespace

std::string withoutCrateHashes(StringRef name) {
  name.consume_front("_R");
  return Walk(name).run();
}

} // namespace frontload
