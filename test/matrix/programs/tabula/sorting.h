// A stable sort, by merging: a template over what is sorted and what compares it.
#pragma once
#include <utility>
#include <vector>

namespace tabula {

template <class T, class Less>
void mergeRuns(std::vector<T> &items, size_t begin, size_t middle, size_t end, Less &less) {
  std::vector<T> merged;
  size_t left = begin, right = middle;
  while (left < middle || right < end) {
    bool takesRight = left == middle || (right < end && less(items[right], items[left]));
    merged.push_back(std::move(items[takesRight ? right++ : left++]));
  }
  for (size_t i = 0; i < merged.size(); ++i)
    items[begin + i] = std::move(merged[i]);
}

template <class T, class Less> void stableSort(std::vector<T> &items, Less less) {
  for (size_t width = 1; width < items.size(); width *= 2)
    for (size_t begin = 0; begin + width < items.size(); begin += 2 * width) {
      size_t end = begin + 2 * width < items.size() ? begin + 2 * width : items.size();
      mergeRuns(items, begin, begin + width, end, less);
    }
}

} // namespace tabula
