// The changing parts of mangled names.
//
// A class's name may look like a variant (`_ZN2C13runEv`), or like an ABI tag (`_ZN3fB1xEv`). So
// LLVM parses the name, and its parser reports where it meets a variant or a tag. Printing the name
// could take time and memory that double with every substitution.
//
// A name with tags is one substitution, and so is the name without. Only tags of a substitution
// that stands for a name of std (`SsB3tag`) make one more.
//
// The v0 mangling writes a crate as `C`, its hash (`s`, a number of base 62, and `_`), and its
// name. Later parts refer to earlier ones by offset (`B` and a number), so the offsets change with
// the hashes. One pass goes through a name, and over identifiers (a length, and that number of
// bytes) in one step. Demangling would take time that doubles with every reference back.
#include "names/mangled_names.h"
#include "names/name_parts.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/ItaniumDemangle.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/SaveAndRestore.h"
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
  itanium_demangle::Node *parseSubstitution() {
    SaveAndRestore isOfStd(isInSubstitution, true);
    return Base::parseSubstitution();
  }

  itanium_demangle::Node *parseAbiTags(itanium_demangle::Node *node) {
    const char *begin = First;
    itanium_demangle::Node *tagged = Base::parseAbiTags(node);
    while (!tags.empty() && tags.back().end() > begin) // the parser tried another reading
      tags.pop_back();
    if (First != begin) // the B of tags that make a substitution stays
      tags.emplace_back(begin + isInSubstitution, First - begin - isInSubstitution);
    return tagged;
  }

  /// The last constructor or destructor met. Arguments come behind the function's name, but no
  /// function has a constructor in its arguments.
  const char *last = nullptr;
  SmallVector<StringRef, 8> tags;
  bool isInSubstitution = false;
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

/// Where the first ABI tag of a C++ name may be.
static size_t findTag(StringRef name) {
  size_t at = name.find('B');
  while (at < name.size() && (at + 1 == name.size() || !isDigit(name[at + 1])))
    at = name.find('B', at + 1);
  return at;
}

static std::string withoutTags(StringRef name) {
  Parser parser(name.begin(), name.end());
  if (name.size() > maxName || findTag(name) == StringRef::npos || !parser.parse())
    return name.str();
  std::string result;
  for (StringRef tag : parser.tags) {
    result.append(name.begin(), tag.begin());
    name = name.drop_front(tag.end() - name.begin());
  }
  return result += name;
}

/// The passes that made a function of Swift, at the end of its name.
static StringRef passesOfSwift(StringRef name) {
  StringRef rest = name = name.take_until([](char c) { return c == '.'; });
  while (true) {
    auto [before, pass] = rest.rsplit("Tf"); // a version, arguments, _, and what is returned
    bool isPass = pass.size() > 2 && isDigit(pass[0]) && pass.contains('_') &&
                  llvm::all_of(pass, [](char c) { return isLower(c) || isDigit(c) || c == '_'; });
    if (isPass)
      rest = before;
    else if (!rest.consume_back("Tm"))
      return name.drop_front(rest.size());
  }
}

/// The first number of something without a name in a name of Zig, which has dots.
static StringRef numberOfZig(StringRef name) {
  StringRef first;
  for (StringRef word : {"__anon_", "__struct_", "__enum_", "__union_", "__opaque_"})
    if (size_t at = name.find(word); at != StringRef::npos) {
      StringRef number = name.substr(at + word.size()).take_while(isDigit);
      if (!number.empty() && (first.empty() || number.begin() < first.begin()))
        first = number;
    }
  return first;
}

/// The first part of a name that changes, in a language that is neither C++ nor Rust.
static StringRef findChanging(StringRef name) {
  if (name.starts_with("$s"))
    return passesOfSwift(name);
  if (name.size() > 4 && name.starts_with("caml") && isUpper(name[4])) {
    StringRef stable = name.rtrim("0123456789"); // camlA__7 is a constant without a name
    bool isNamed = stable.ends_with("_") && !stable.ends_with("__");
    return isNamed ? name.drop_front(stable.size()) : StringRef();
  }
  return name.contains('.') ? numberOfZig(name) : StringRef();
}

std::string stableName(StringRef stem) {
  if (isRustV0(stem))
    return "_R" + Walk(stem.drop_front(2)).run();
  if (stem.starts_with("_Z"))
    return withoutTags(stem);
  std::string result;
  for (StringRef part = findChanging(stem); !part.empty(); part = numberOfZig(stem)) {
    result.append(stem.begin(), part.begin());
    stem = stem.drop_front(part.end() - stem.begin());
  }
  return result += stem;
}

size_t stableBeginning(StringRef name) {
  if (isRustV0(name))
    return 2;
  if (name.starts_with("_Z"))
    return findTag(name);
  StringRef part = findChanging(name.starts_with("caml") ? takeApart(name).stem : name);
  return part.empty() ? StringRef::npos : part.begin() - name.begin();
}

} // namespace frontload
