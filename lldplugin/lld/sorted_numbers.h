//===- sorted_numbers.h - sorts many numbers quickly -----------------------===//
//
// lld sorts the offsets of packed relocations, hundreds of thousands, each time it has given
// sections their addresses. LLVM sorts numbers by the C library's qsort(), which calls a function
// for each comparison: a fortieth of the link of a large program. A front would cost that time,
// since it makes lld pack relocations (packed_relocations.h).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_SORTED_NUMBERS_H
#define FRONTLOAD_LLDPLUGIN_LLD_SORTED_NUMBERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace frontload {

/// Sorts by one digit after the other, the lowest first.
inline void sortNumbers(llvm::MutableArrayRef<uint64_t> numbers) {
  static constexpr unsigned digitBits = 11; // a table for these fits into a core's first cache
  static constexpr size_t minToUseDigits = 1 << digitBits;
  if (llvm::is_sorted(numbers))
    return;
  if (numbers.size() < minToUseDigits) {
    std::sort(numbers.begin(), numbers.end());
    return;
  }
  uint64_t differing = 0;
  for (uint64_t number : numbers)
    differing |= number ^ numbers[0];
  std::vector<uint64_t> other(numbers.size());
  llvm::MutableArrayRef<uint64_t> from = numbers, to = other;
  for (unsigned shift = llvm::countr_zero(differing); shift < 64 && differing >> shift;
       shift += digitBits) {
    std::array<size_t, size_t(1) << digitBits> places = {};
    auto placeOf = [&](uint64_t number) -> size_t & {
      return places[number >> shift & (places.size() - 1)];
    };
    for (uint64_t number : from)
      ++placeOf(number);
    std::exclusive_scan(places.begin(), places.end(), places.begin(), size_t(0));
    for (uint64_t number : from)
      to[placeOf(number)++] = number;
    std::swap(from, to);
  }
  if (from.data() != numbers.data())
    llvm::copy(from, numbers.begin());
}

} // namespace frontload

#endif
