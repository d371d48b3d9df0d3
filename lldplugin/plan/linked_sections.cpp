//===- linked_sections.cpp - the input sections of a link, one by one ------===//

#include "plan/linked_sections.h"
#include "elf/elf_object.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>
#include <numeric>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

namespace {
/// The objects of a link, and the one that is looked into: a linker goes through one after the
/// other, and in each of them from its first section to its last.
template <class ELFT> class Search {
public:
  explicit Search(ArrayRef<StringRef> o) : objects(o), byAddress(o.size()) {
    std::iota(byAddress.begin(), byAddress.end(), 0);
    llvm::sort(byAddress, [&](uint32_t a, uint32_t b) {
      return std::less<>()(objects[a].data(), objects[b].data());
    });
  }

  void add(const char *name, std::vector<LinkedSection> &found) {
    if (!isIn(name) && !open(name))
      return;
    auto sections = object->sections();
    for (size_t tried = 0; tried < sections.size(); ++tried, ++next) {
      if (next >= sections.size())
        next = 0;
      const auto &section = sections[next];
      if (object->nameBegin(section).data() != name)
        continue;
      found.push_back({object->name(section), number, uint32_t(next++), section.sh_type,
                       section.sh_flags, section.sh_size,
                       std::max<uint64_t>(section.sh_addralign, 1)});
      return;
    }
  }

private:
  bool isIn(const char *name) const {
    return object && name >= objects[number].begin() && name < objects[number].end();
  }

  bool open(const char *name) {
    auto behind = llvm::partition_point(
        byAddress, [&](uint32_t i) { return std::less_equal<>()(objects[i].data(), name); });
    if (behind == byAddress.begin())
      return false;
    number = *std::prev(behind);
    if (!std::less<>()(name, objects[number].end()))
      return false;
    object = ElfObject<ELFT>::open(objects[number]);
    next = 0;
    return object.has_value();
  }

  ArrayRef<StringRef> objects;
  std::vector<uint32_t> byAddress;
  std::optional<ElfObject<ELFT>> object;
  uint32_t number = 0;
  size_t next = 0;
};
} // namespace

std::vector<LinkedSection> findLinkedSections(ArrayRef<const char *> names,
                                              ArrayRef<StringRef> objects) {
  std::vector<LinkedSection> found;
  found.reserve(names.size());
  auto first = llvm::find_if(objects, [](StringRef o) { return o.starts_with(ELF::ElfMagic); });
  if (first != objects.end())
    withElfType(*first, [&]<class ELFT>() {
      Search<ELFT> search(objects);
      for (const char *name : names)
        search.add(name, found);
    });
  return found;
}

} // namespace frontload
