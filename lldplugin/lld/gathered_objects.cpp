//===- gathered_objects.cpp - objects in the order of the command line -----===//

#include "lld/gathered_objects.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace llvm;

namespace frontload {

void GatheredObjects::add(const void *file, InputObject object) {
  std::lock_guard lock(mutex);
  gathered.push_back({file, object});
}

std::vector<InputObject> GatheredObjects::take(ArrayRef<const void *> files) {
  std::lock_guard lock(mutex);
  DenseMap<const void *, size_t> places;
  places.reserve(files.size());
  for (auto [place, file] : enumerate(files))
    places.try_emplace(file, place);
  auto placeOf = [&](const Gathered &g) {
    auto place = places.find(g.file);
    return place == places.end() ? files.size() : place->second;
  };
  std::vector<std::pair<size_t, InputObject>> sorted;
  sorted.reserve(gathered.size());
  for (const Gathered &g : std::exchange(gathered, {}))
    sorted.emplace_back(placeOf(g), g.object);
  llvm::stable_sort(sorted, less_first());
  foundNone = !sorted.empty() && sorted.front().first == files.size();
  std::vector<InputObject> result;
  result.reserve(sorted.size());
  for (const auto &[place, object] : sorted)
    result.push_back(object);
  return result;
}

} // namespace frontload
