// Which sections of its inputs a linker has taken.
#include "startup_set/linked_names.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;

namespace frontload {

NamesByObject namesByObject(ArrayRef<StringRef> objects, ArrayRef<const char *> names) {
  std::vector<uint32_t> byAddress(objects.size());
  std::iota(byAddress.begin(), byAddress.end(), 0);
  llvm::sort(byAddress,
             [&](uint32_t a, uint32_t b) { return objects[a].data() < objects[b].data(); });
  NamesByObject result(objects.size());
  StringRef bytes; // of the last object
  std::vector<NumberedName> *found = nullptr;
  auto isInside = [&](const char *name) { return name >= bytes.begin() && name < bytes.end(); };
  for (auto [number, name] : enumerate(names)) {
    if (!isInside(name)) {
      auto after = llvm::partition_point(
          byAddress, [&](uint32_t object) { return objects[object].data() <= name; });
      if (after == byAddress.begin())
        continue;
      bytes = objects[*--after];
      found = &result[*after];
    }
    if (isInside(name))
      found->emplace_back(name, uint32_t(number));
  }
  return result;
}

template <class ELFT>
void forEachNamed(const ElfObject<ELFT> &object, ArrayRef<NumberedName> names,
                  function_ref<void(uint32_t, uint32_t)> visit) {
  // lld has the sections of nearly all objects in the order of their section tables.
  SmallVector<std::pair<uint32_t, uint32_t>, 0> inOrder;
  for (auto [index, section] : enumerate(object.sections()))
    if (inOrder.size() < names.size() &&
        object.nameBegin(section).data() == names[inOrder.size()].first)
      inOrder.push_back({uint32_t(index), names[inOrder.size()].second});
  if (inOrder.size() < names.size()) {
    DenseMap<const char *, uint32_t> inAnyOrder;
    inAnyOrder.insert_range(names);
    inOrder.clear();
    for (auto [index, section] : enumerate(object.sections()))
      if (auto found = inAnyOrder.find(object.nameBegin(section).data()); found != inAnyOrder.end())
        inOrder.push_back({uint32_t(index), found->second});
  }
  for (auto [index, number] : inOrder)
    visit(index, number);
}

#define INSTANTIATE(ELFT)                                                                          \
  template void forEachNamed(const ElfObject<ELFT> &, ArrayRef<NumberedName>,                      \
                             function_ref<void(uint32_t, uint32_t)>);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
