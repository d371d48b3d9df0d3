// Finds code that the linker will fold.
#include "startup_set/identical_code.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// A hash that is equal for sections that a linker may fold.
template <class ELFT>
static uint64_t hashCode(const ElfObject<ELFT> &object, const typename ELFT::Shdr &section,
                         typename ElfObject<ELFT>::Tables relocations) {
  StringRef contents = object.contents(section);
  uint64_t hash = xxh3_64bits(contents) ^ section.sh_flags * 0x9e3779b97f4a7c15;
  auto mix = [&](uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  object.forEachTarget(relocations, [&](uint32_t index, int64_t addend) {
    const auto &symbol = object.symbols()[index];
    mix(uint64_t(addend));
    if (symbol.getBinding() != ELF::STB_LOCAL)
      mix(xxh3_64bits(object.name(symbol)));
    else if (uint32_t target = object.sectionOf(symbol))
      mix(object.sections()[target].sh_size);
  });
  return hash;
}

/// Calls `visit(index, hash)` for each of the sections, by index.
template <class ELFT, class Visit>
static void forEachHash(const ElfObject<ELFT> &object, ArrayRef<uint32_t> sections, Visit visit) {
  SmallVector<std::pair<uint32_t, uint32_t>, 0> origins;
  for (uint32_t index : sections)
    origins.push_back({index, index}); // the next function gets the first
  DenseMap<uint32_t, SmallVector<const typename ELFT::Shdr *, 1>> relocations;
  object.forEachRelocationsOf(
      origins, [&](auto tables, uint32_t index) { append_range(relocations[index], tables); });
  for (uint32_t index : sections)
    visit(index, hashCode(object, object.sections()[index], relocations[index]));
}

/// By section of code, the entries that name it.
template <class ELFT>
static MapVector<uint32_t, SmallVector<uint32_t, 1>> namedIn(const ObjectScan<ELFT> &scan) {
  MapVector<uint32_t, SmallVector<uint32_t, 1>> named;
  for (const EntryMatch &m : scan.matches)
    if (m.sectionClass == SectionClass::Text)
      named[m.section].push_back(m.entry);
  return named;
}

template <class ELFT>
void addIdenticalCode(ObjectScans<ELFT> &scans, Folding folding, std::vector<EntryPlace> &places) {
  auto mayFold = [&](const ObjectScan<ELFT> &scan) {
    return scan.object && (folding == Folding::All || scan.object->listsSignificantSymbols());
  };
  // Of the code that the profile names.
  DenseMap<uint64_t, SmallVector<uint32_t, 1>> entriesOf; // by hash
  DenseSet<uint64_t> sizes;
  for (const ObjectScan<ELFT> &scan : scans.all) {
    auto named = namedIn(scan);
    if (named.empty() || !mayFold(scan))
      continue;
    auto sections = to_vector(make_first_range(named));
    forEachHash(*scan.object, sections, [&](uint32_t index, uint64_t hash) {
      sizes.insert(scan.object->sections()[index].sh_size);
      append_range(entriesOf[hash], named[index]);
    });
  }
  if (sizes.empty())
    return;
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    if (!mayFold(scan))
      return;
    auto named = namedIn(scan);
    SmallVector<uint32_t, 0> others;
    for (auto [index, section] : enumerate(scan.object->sections()))
      if ((section.sh_flags & ELF::SHF_EXECINSTR) && sizes.contains(section.sh_size) &&
          !named.contains(uint32_t(index)) && scan.object->classify(section) == SectionClass::Text)
        others.push_back(uint32_t(index));
    forEachHash(*scan.object, others, [&](uint32_t index, uint64_t hash) {
      if (auto entries = entriesOf.find(hash); entries != entriesOf.end())
        for (uint32_t entry : entries->second)
          scan.matches.push_back({entry, {}, {}, index, SectionClass::Text});
    });
  });
  for (const ObjectScan<ELFT> &scan : scans.all)
    for (const EntryMatch &m : scan.matches)
      if (!m.rank.isFound()) // it was added
        places.push_back(placeOf(scan, m));
}

#define INSTANTIATE(ELFT)                                                                          \
  template void addIdenticalCode(ObjectScans<ELFT> &, Folding, std::vector<EntryPlace> &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
