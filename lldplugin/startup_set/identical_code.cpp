//===- identical_code.cpp - tells code that the linker will fold -----------===//

#include "startup_set/identical_code.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// A number that is equal for sections that a linker may fold. `relocations` is the section with
/// theirs, if there is one.
template <class ELFT>
static uint64_t hashCode(const ElfObject<ELFT> &object, const typename ELFT::Shdr &section,
                         const typename ELFT::Shdr *relocations) {
  StringRef contents = object.contents(section);
  uint64_t hash = xxh3_64bits(contents) ^ section.sh_flags * 0x9e3779b97f4a7c15;
  if (!relocations)
    return hash;
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  object.forEachTarget(*relocations, [&](uint32_t index, int64_t addend) {
    const auto &symbol = object.symbols()[index];
    mix(uint64_t(addend));
    if (symbol.getBinding() != ELF::STB_LOCAL)
      mix(xxh3_64bits(object.name(symbol)));
    else if (uint32_t target = object.sectionOf(symbol))
      mix(object.sections()[target].sh_size);
  });
  return hash;
}

template <class ELFT>
void addIdenticalCode(ObjectScans<ELFT> &scans, std::vector<EntryPlace> &places) {
  using Shdr = typename ELFT::Shdr;
  auto hashesOf = [](const ObjectScan<ELFT> &scan, auto isWanted, auto visit) {
    SmallVector<std::pair<uint32_t, uint32_t>, 0> wanted;
    for (auto [index, section] : enumerate(scan.object->sections()))
      if (isWanted(uint32_t(index), section))
        wanted.push_back({0, uint32_t(index)});
    DenseMap<uint32_t, const Shdr *> relocations;
    scan.object->forEachRelocationsOf(
        wanted, [&](const Shdr &table, uint32_t) { relocations[table.sh_info] = &table; });
    for (auto [_, index] : wanted)
      visit(index, hashCode(*scan.object, scan.object->sections()[index], relocations[index]));
  };
  using Entries = SmallVector<uint32_t, 1>;
  DenseMap<uint64_t, Entries> entriesOf;
  DenseSet<uint64_t> sizes;
  for (const ObjectScan<ELFT> &scan : scans.all) {
    DenseMap<uint32_t, Entries> named;
    for (const EntryMatch &m : scan.matches)
      if (m.sectionClass == SectionClass::Text)
        named[m.section].push_back(m.entry);
    auto isNamed = [&](uint32_t index, const Shdr &) { return named.contains(index); };
    if (!named.empty())
      hashesOf(scan, isNamed, [&](uint32_t index, uint64_t hash) {
        sizes.insert(scan.object->sections()[index].sh_size);
        llvm::append_range(entriesOf[hash], named[index]);
      });
  }
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    DenseSet<uint32_t> named;
    for (const EntryMatch &m : scan.matches)
      named.insert(m.section);
    auto mayBe = [&](uint32_t index, const Shdr &section) {
      return (section.sh_flags & ELF::SHF_EXECINSTR) && sizes.contains(section.sh_size) &&
             !named.contains(index) && scan.object->classify(section) == SectionClass::Text;
    };
    hashesOf(scan, mayBe, [&](uint32_t index, uint64_t hash) {
      if (auto it = entriesOf.find(hash); it != entriesOf.end())
        for (uint32_t entry : it->second)
          scan.matches.push_back({entry, {}, {}, index, SectionClass::Text});
    });
  });
  for (const ObjectScan<ELFT> &scan : scans.all)
    for (const EntryMatch &m : scan.matches)
      if (!m.rank.isFound())
        places.push_back(placeOf(scan, m));
}

#define INSTANTIATE(ELFT)                                                                          \
  template void addIdenticalCode(ObjectScans<ELFT> &, std::vector<EntryPlace> &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)

} // namespace frontload
