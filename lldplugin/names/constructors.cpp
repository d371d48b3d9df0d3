//===- constructors.cpp - the variants of constructors and destructors -----===//
//
// A class's name may look like a variant (`_ZN2C13runEv`), so LLVM parses the name, and its parser
// reports where it meets a variant. Printing the name could take time and memory that double with
// every substitution.
//
//===----------------------------------------------------------------------===//

#include "names/constructors.h"
#include "llvm/Demangle/ItaniumDemangle.h"
#include "llvm/Support/Allocator.h"

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
      std::string other = name.str();
      other[at + 1] = digit;
      result.push_back(std::move(other));
    }
  return result;
}

} // namespace frontload
