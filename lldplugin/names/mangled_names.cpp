//===- mangled_names.cpp - the changing parts of C++ and Rust names --------===//
//
// A class's name may look like a variant (`_ZN2C13runEv`), so LLVM parses the name, and its parser
// reports where it meets a variant. Printing the name could take time and memory that double with
// every substitution.
//
// The v0 mangling writes a crate as `C`, its hash (`s`, a number of base 62, and `_`), and its
// name. Later parts refer to earlier ones by offset (`B` and a number), so the offsets change with
// the hashes. One pass goes through a name, and over identifiers (a length, and that number of
// bytes) in one step. Demangling would take time that doubles with every reference back.
//
//===----------------------------------------------------------------------===//

#include "names/mangled_names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/ItaniumDemangle.h"
#include "llvm/Support/Allocator.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

/// The parser recurses for each level of a name.
static constexpr size_t maxName = 4096;

namespace {
/// Allocates the parser's nodes.
class NodeAllocator {
public:
  void reset() { allocator.Reset(); }
  template <class T, class... Args> T *makeNode(Args &&...args) {
    return new (allocator.Allocate<T>()) T(std::forward<Args>(args)...);
  }
  void *allocateNodeArray(size_t size) {
    return allocator.Allocate<itanium_demangle::Node *>(size);
  }

private:
  BumpPtrAllocator allocator;
};

struct Parser : itanium_demangle::AbstractManglingParser<Parser, NodeAllocator> {
  using Base = itanium_demangle::AbstractManglingParser<Parser, NodeAllocator>;
  using Base::Base;

  itanium_demangle::Node *parseCtorDtorName(itanium_demangle::Node *&scope, NameState *state) {
    last = First;
    return Base::parseCtorDtorName(scope, state);
  }
  /// The last constructor or destructor met. Arguments come behind the function's name, but no
  /// function has a constructor in its arguments.
  const char *last = nullptr;
};
} // namespace

/// Whether a name may have a variant, as few do.
static bool mayHaveVariant(StringRef name) {
  for (size_t i = 2; i + 2 < name.size(); ++i)
    if ((name[i] == 'C' || name[i] == 'D') && name[i + 1] >= '0' && name[i + 1] <= '3' &&
        StringRef("EIB").contains(name[i + 2])) // the end of the scope, arguments, an ABI tag
      return true;
  return false;
}

SmallVector<std::string, 4> otherVariants(StringRef name) {
  SmallVector<std::string, 4> result;
  if (!name.starts_with("_Z") || name.size() > maxName || !mayHaveVariant(name))
    return result;
  Parser parser(name.begin(), name.end());
  if (!parser.parse() || !parser.last)
    return result;
  size_t at = parser.last - name.begin();
  StringRef digits = name[at] == 'C' ? "123" : "012";
  if (at + 1 >= name.size() || !digits.contains(name[at + 1]))
    return result;
  for (char digit : digits)
    if (digit != name[at + 1]) {
      result.push_back(name.str());
      result.back()[at + 1] = digit;
    }
  return result;
}

/// Takes a number of base 62 and the `_` behind it from `text`. `_` alone is 0, and each other
/// number is one more than its digits.
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
/// One pass through a name.
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
    case 'M': // an implementation, and its number in the module
    case 'X':
      return dropDisambiguator();
    case 'B':
      return reference();
    case 'K': // a constant: its type, and hexadecimal digits
      return copy(std::min(text.find('_'), text.size()));
    case 's': // a number among namesakes; or a type
    case 'L': // a lifetime
    case 'G': // how many lifetimes
      if (StringRef rest = text; takeBase62(rest) && text.size() - rest.size() <= maxCountBytes)
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
    uint64_t length; // too large a number is no length
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

  /// Numbers of namesakes or lifetimes have at most this many bytes.
  static constexpr size_t maxCountBytes = 3;
  struct Removed {
    uint64_t end, bytes; ///< `bytes` are removed before `end`
  };

  const char *begin; ///< offsets count from here
  StringRef text;    ///< the rest of the name
  SmallVector<Removed, 8> removed;
  std::string result;
};
} // namespace

std::string withoutCrateHashes(StringRef name) {
  name.consume_front("_R");
  return Walk(name).run();
}

} // namespace frontload
