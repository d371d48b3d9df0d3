//===- code_folding.cpp - which code a linker may fold ---------------------===//

#include "startup_set/code_folding.h"
#include "names/hashed_name.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

static bool goesByLists(Folding folding) {
  return folding == Folding::Listed || folding == Folding::ListedAndHidden;
}

template <class ELFT> bool mayFold(const ElfObject<ELFT> &object, Folding folding) {
  if (goesByLists(folding))
    return object.listsSignificantSymbols();
  return folding == Folding::All;
}

namespace {
/// Of the global symbols asked for, those whose addresses matter in any object.
template <class ELFT> class Significant {
public:
  Significant(const ObjectScans<ELFT> &s, Folding f) : scans(s), folding(f) {}

  /// Asks for the global symbols in `codes`.
  void ask(const ObjectScan<ELFT> &scan, const FoldableCodes &codes);
  /// Searches all objects for the symbols asked for.
  void answer();
  bool has(const ObjectScan<ELFT> &scan, const typename ELFT::Sym &symbol) const;

private:
  const ObjectScans<ELFT> &scans;
  const Folding folding;
  NameFilter asked{1 << 18};
  DenseSet<CachedHashStringRef> names;
};

/// Calls `visit` with each symbol that is defined in one of the sections.
template <class ELFT, class Visit>
void forEachSymbolIn(const ElfObject<ELFT> &object, const FoldableCodes &codes, Visit visit) {
  DenseSet<uint32_t> sections;
  for (const FoldableCode &code : codes)
    sections.insert(code.section);
  for (const auto &symbol : object.symbols())
    if (uint32_t section = object.sectionOf(symbol); sections.contains(section))
      visit(symbol, section);
}
} // namespace

static bool isGlobal(uint8_t binding) { return binding != ELF::STB_LOCAL; }

template <class ELFT>
void Significant<ELFT>::ask(const ObjectScan<ELFT> &scan, const FoldableCodes &codes) {
  forEachSymbolIn(*scan.object, codes, [&](const auto &symbol, uint32_t) {
    if (isGlobal(symbol.getBinding()))
      asked.add(hashName(scan.object->name(symbol)).hash());
  });
}

template <class ELFT> void Significant<ELFT>::answer() {
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
}

template <class ELFT>
bool Significant<ELFT>::has(const ObjectScan<ELFT> &scan, const typename ELFT::Sym &symbol) const {
  if (!isGlobal(symbol.getBinding()))
    return false;
  bool isSeen =
      symbol.getVisibility() == ELF::STV_DEFAULT || symbol.getVisibility() == ELF::STV_PROTECTED;
  return (folding == Folding::ListedAndHidden && isSeen) ||
         names.contains(hashName(scan.object->name(symbol)));
}

template <class ELFT>
void dropKeptApart(const ObjectScans<ELFT> &scans, Folding folding,
                   std::vector<FoldableCodes> &codes) {
  if (!goesByLists(folding))
    return;
  Significant<ELFT> significant(scans, folding);
  for (auto [scan, ofObject] : zip_equal(scans.all, codes))
    if (!ofObject.empty())
      significant.ask(scan, ofObject);
  significant.answer();
  for (auto [scan, ofObject] : zip_equal(scans.all, codes)) {
    if (ofObject.empty())
      continue;
    DenseSet<uint32_t> kept;
    forEachSymbolIn(*scan.object, ofObject, [&](const auto &symbol, uint32_t section) {
      if (significant.has(scan, symbol))
        kept.insert(section);
    });
    scan.object->forEachSignificantSymbol(
        [&](const auto &symbol) { kept.insert(scan.object->sectionOf(symbol)); });
    erase_if(ofObject, [&](const FoldableCode &code) { return kept.contains(code.section); });
  }
}

#define INSTANTIATE(ELFT)                                                                          \
  template bool mayFold(const ElfObject<ELFT> &, Folding);                                         \
  template void dropKeptApart(const ObjectScans<ELFT> &, Folding, std::vector<FoldableCodes> &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
