//===- identical_code.cpp - finds code that the linker will fold -----------===//

#include "startup_set/identical_code.h"
#include "names/name_hashes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

namespace {
/// A section of code that may be folded with others of the same hash.
struct FoldableCode {
  uint32_t section;
  uint64_t hash;
  bool isNamed; ///< in the profile
};
using FoldableCodes = SmallVector<FoldableCode, 0>;
} // namespace

static bool goesByLists(Folding folding) {
  return folding == Folding::Listed || folding == Folding::ListedAndHidden;
}

/// Whether code of `object` may be folded at all.
template <class ELFT> static bool mayFold(const ElfObject<ELFT> &object, Folding folding) {
  return goesByLists(folding) ? object.listsSignificantSymbols() : folding == Folding::All;
}

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

/// For each object, the code that the profile names, and code that looks identical to it.
template <class ELFT>
static std::vector<FoldableCodes> findAlike(ObjectScans<ELFT> &scans, Folding folding) {
  using Shdr = typename ELFT::Shdr;
  auto hashesOf = [](const ObjectScan<ELFT> &scan, auto isWanted, auto visit) {
    SmallVector<std::pair<uint32_t, uint32_t>, 0> wanted;
    for (auto [index, section] : enumerate(scan.object->sections()))
      if (isWanted(uint32_t(index), section))
        wanted.push_back({0, uint32_t(index)});
    DenseMap<uint32_t, SmallVector<const Shdr *, 1>> relocations;
    scan.object->forEachRelocationsOf(wanted, [&](auto tables, uint32_t) {
      append_range(relocations[tables[0]->sh_info], tables);
    });
    for (auto [_, index] : wanted)
      visit(index, hashCode(*scan.object, scan.object->sections()[index], relocations[index]));
  };
  auto namedIn = [](const ObjectScan<ELFT> &scan) {
    DenseSet<uint32_t> named;
    for (const EntryMatch &m : scan.matches)
      if (m.sectionClass == SectionClass::Text)
        named.insert(m.section);
    return named;
  };
  std::vector<FoldableCodes> result(scans.all.size());
  DenseSet<uint64_t> hashes, sizes;
  for (auto [scan, codes] : zip_equal(scans.all, result)) {
    DenseSet<uint32_t> named = namedIn(scan);
    if (named.empty() || !mayFold(*scan.object, folding))
      continue;
    auto isNamed = [&](uint32_t index, const Shdr &) { return named.contains(index); };
    hashesOf(scan, isNamed, [&](uint32_t index, uint64_t hash) {
      sizes.insert(scan.object->sections()[index].sh_size);
      hashes.insert(hash);
      codes.push_back({index, hash, /*isNamed=*/true});
    });
  }
  shareWork(scans.numThreads, scans.all.size(), [&](size_t i) {
    const ObjectScan<ELFT> &scan = scans.all[i];
    if (!scan.object || sizes.empty() || !mayFold(*scan.object, folding))
      return;
    DenseSet<uint32_t> named = namedIn(scan);
    auto mayBe = [&](uint32_t index, const Shdr &section) {
      return (section.sh_flags & ELF::SHF_EXECINSTR) && sizes.contains(section.sh_size) &&
             !named.contains(index) && scan.object->classify(section) == SectionClass::Text;
    };
    hashesOf(scan, mayBe, [&](uint32_t index, uint64_t hash) {
      if (hashes.contains(hash))
        result[i].push_back({index, hash, /*isNamed=*/false});
    });
  });
  return result;
}

static bool isGlobal(uint8_t binding) { return binding != ELF::STB_LOCAL; }

/// Calls `visit` with each symbol that is defined in one of the sections.
template <class ELFT, class Visit>
static void forEachSymbolIn(const ObjectScan<ELFT> &scan, const FoldableCodes &codes, Visit visit) {
  if (codes.empty())
    return;
  DenseSet<uint32_t> sections;
  for (const FoldableCode &code : codes)
    sections.insert(code.section);
  for (const auto &symbol : scan.object->symbols())
    if (uint32_t section = scan.object->sectionOf(symbol); sections.contains(section))
      visit(symbol, section);
}

/// Of the global symbols in `codes`, and perhaps others, those whose addresses matter in any
/// object.
template <class ELFT>
static DenseSet<CachedHashStringRef> significantNames(const ObjectScans<ELFT> &scans,
                                                      const std::vector<FoldableCodes> &codes) {
  NameFilter asked(1 << 18);
  for (auto [scan, ofObject] : zip_equal(scans.all, codes))
    forEachSymbolIn(scan, ofObject, [&](const auto &symbol, uint32_t) {
      if (isGlobal(symbol.getBinding()))
        asked.add(hashName(scan.object->name(symbol)).hash());
    });
  DenseSet<CachedHashStringRef> names;
  for (const ObjectScan<ELFT> &scan : scans.all) {
    if (!scan.object)
      continue;
    auto add = [&](const typename ELFT::Sym &symbol) {
      if (!isGlobal(symbol.getBinding()))
        return;
      if (CachedHashStringRef name = hashName(scan.object->name(symbol));
          asked.mayContain(name.hash()))
        names.insert(name);
    };
    if (scan.object->listsSignificantSymbols())
      scan.object->forEachSignificantSymbol(add);
    else // the address of any symbol may matter
      llvm::for_each(scan.object->symbols(), add);
  }
  return names;
}

/// Drops identical code that the linker keeps apart; `codes` has a list for each object.
template <class ELFT>
static void dropKeptApart(const ObjectScans<ELFT> &scans, Folding folding,
                          std::vector<FoldableCodes> &codes) {
  if (!goesByLists(folding))
    return;
  DenseSet<CachedHashStringRef> significant = significantNames(scans, codes);
  for (auto [scan, ofObject] : zip_equal(scans.all, codes)) {
    if (ofObject.empty())
      continue;
    DenseSet<uint32_t> kept;
    forEachSymbolIn(scan, ofObject, [&](const auto &symbol, uint32_t section) {
      bool isSeen = symbol.getVisibility() == ELF::STV_DEFAULT ||
                    symbol.getVisibility() == ELF::STV_PROTECTED;
      if (isGlobal(symbol.getBinding()) &&
          ((folding == Folding::ListedAndHidden && isSeen) ||
           significant.contains(hashName(scan.object->name(symbol)))))
        kept.insert(section);
    });
    scan.object->forEachSignificantSymbol(
        [&](const auto &symbol) { kept.insert(scan.object->sectionOf(symbol)); });
    erase_if(ofObject, [&](const FoldableCode &code) { return kept.contains(code.section); });
  }
}

template <class ELFT>
void addIdenticalCode(ObjectScans<ELFT> &scans, Folding folding, std::vector<EntryPlace> &places) {
  std::vector<FoldableCodes> codes = findAlike(scans, folding);
  dropKeptApart(scans, folding, codes);
  DenseMap<uint64_t, SmallVector<uint32_t, 1>> entriesOf;
  for (auto [scan, ofObject] : zip_equal(scans.all, codes)) {
    DenseMap<uint32_t, uint64_t> hashOf;
    for (const FoldableCode &code : ofObject)
      if (code.isNamed)
        hashOf[code.section] = code.hash;
    if (!hashOf.empty())
      for (const EntryMatch &m : scan.matches)
        if (auto it = hashOf.find(m.section); it != hashOf.end())
          entriesOf[it->second].push_back(m.entry);
  }
  for (auto [scan, ofObject] : zip_equal(scans.all, codes))
    for (const FoldableCode &code : ofObject) {
      auto entries = code.isNamed ? entriesOf.end() : entriesOf.find(code.hash);
      if (entries == entriesOf.end())
        continue;
      for (uint32_t entry : entries->second) {
        scan.matches.push_back({entry, {}, {}, code.section, SectionClass::Text});
        places.push_back(placeOf(scan, scan.matches.back()));
      }
    }
}

#define INSTANTIATE(ELFT)                                                                          \
  template void addIdenticalCode(ObjectScans<ELFT> &, Folding, std::vector<EntryPlace> &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
