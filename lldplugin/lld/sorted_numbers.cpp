//===- sorted_numbers.cpp - sorts lld's numbers in place of qsort() --------===//
//
// Only the time of a link depends on this: the C library does all other sorts.
//
//===----------------------------------------------------------------------===//

#include "lld/sorted_numbers.h"

using Comparison = int (*)(const void *, const void *);

extern "C" {
void realSort(void *first, size_t count, size_t size, Comparison compare) asm("__real_qsort");
void wrapSort(void *first, size_t count, size_t size, Comparison compare) asm("__wrap_qsort");
}

void wrapSort(void *first, size_t count, size_t size, Comparison compare) {
  if (compare == llvm::array_pod_sort_comparator<uint64_t>)
    frontload::sortNumbers({static_cast<uint64_t *>(first), count});
  else
    realSort(first, count, size, compare);
}
