//===- front_align.cpp - --front-align -------------------------------------===//

#include "lld/front_align.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace frontload {

/// From a page to the largest page that processors have.
static constexpr uint64_t minAlign = 4 << 10, maxAlign = 1 << 30;
/// lld's default base of programs that are not relocated is a multiple of the first number on all
/// machines, and the second number on the most usual ones.
static constexpr uint64_t commonBaseAlign = 64 << 10, usualBase = 2 << 20;

std::optional<uint64_t> parseFrontAlign(StringRef text) {
  uint64_t unit = text.consume_back("K")   ? 1 << 10
                  : text.consume_back("M") ? 1 << 20
                  : text.consume_back("G") ? 1 << 30
                                           : 1;
  uint64_t count;
  if (text.getAsInteger(10, count) || count > maxAlign / unit)
    return std::nullopt;
  uint64_t bytes = count * unit;
  return isPowerOf2_64(bytes) && bytes >= minAlign ? std::optional(bytes) : std::nullopt;
}

std::optional<Refusal> checkFrontAlign(const LinkOptions &options) {
  if (!options.frontAlign)
    return std::nullopt;
  uint64_t align = options.traits.frontAlign;
  if (!align)
    return Refusal{"--front-align: '" + *options.frontAlign +
                       "' is not a power of two from 4K to 1G",
                   "name the size of a large folio, such as 64K or 2M", exitUsage};
  // Address and offset differ by the base. lld reports a base that is no number.
  uint64_t base;
  if (!StringRef(options.imageBase).getAsInteger(0, base) && base % align)
    return Refusal{"--front-align=" + *options.frontAlign + ": --image-base=" + options.imageBase +
                       " is not a multiple of it",
                   "leave it out, or name a multiple", exitUsage};
  return std::nullopt;
}

std::string frontAlignArgument(const LinkOptions &options) {
  uint64_t align = options.traits.frontAlign;
  if (align <= commonBaseAlign || options.traits.isRelocated || !options.imageBase.empty())
    return "";
  return "--image-base=0x" + utohexstr(std::max(align, usualBase));
}

} // namespace frontload
