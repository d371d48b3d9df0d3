//===- rest_order.cpp - lld's own orders, for what is outside of the front -===//

#include "lld/rest_order.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>
#include <vector>

using namespace llvm;

namespace frontload {

namespace {
/// The input objects, as a place to look up addresses in.
class InputBytes {
public:
  explicit InputBytes(ArrayRef<StringRef> inputs) : sorted(inputs.begin(), inputs.end()) {
    llvm::sort(sorted, beginsLower);
  }

  /// Whether `text` lies in an input object, and ends there with a zero byte as names do.
  bool hasName(StringRef text) const {
    auto after = llvm::upper_bound(sorted, text, beginsLower);
    if (after == sorted.begin())
      return false;
    StringRef input = *std::prev(after);
    // As numbers, since `text` may be no address at all.
    size_t at =
        reinterpret_cast<uintptr_t>(text.data()) - reinterpret_cast<uintptr_t>(input.data());
    return at < input.size() && text.size() < input.size() - at && input[at + text.size()] == 0;
  }

private:
  static bool beginsLower(StringRef a, StringRef b) {
    return std::less<const char *>()(a.data(), b.data());
  }

  std::vector<StringRef> sorted;
};

/// The place of a function without a front, with -z keep-text-section-prefix: the compiler names
/// its section by how often it runs.
unsigned heatOf(StringRef name) {
  return name.starts_with(".text.hot.") ? 0 : name.starts_with(".text.unlikely.") ? 2 : 1;
}
} // namespace

std::optional<SectionOrder> restOf(const SectionOrder &order, const FrontLink &link,
                                   bool ordersFront) {
  InputBytes inputs(link.inputs());
  SectionOrder rest;
  std::vector<std::tuple<unsigned, int, const lld::elf::InputSectionBase *>> front;
  bool isNameKnown = order.empty();
  for (auto [section, position] : order) {
    StringRef name = nameOf(section);
    // lld's own sections, as for common symbols, have names outside of the inputs.
    bool isOfInput = inputs.hasName(name);
    isNameKnown |= isOfInput;
    if (!isOfInput || !link.patternFor(name))
      rest.try_emplace(section, position);
    else if (ordersFront && link.isCodeOfAllRuns(name))
      front.emplace_back(heatOf(name), position, section);
  }
  llvm::sort(front);
  for (auto [number, place] : enumerate(front))
    rest.try_emplace(std::get<2>(place), int(number));
  return isNameKnown ? std::optional(std::move(rest)) : std::nullopt;
}

} // namespace frontload
