//===- next_sections.cpp - sections likely to be used next -----------------===//

#include "startup_set/next_sections.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

template <class ELFT> void placeCalls(ObjectScans<ELFT> &scans, const StartupProfile &profile) {
  // Only the hashes: nothing is lost if another name with the same hash also comes next.
  DenseSet<uint64_t> called;
  NameFilter calledNames(1 << 18);
  for (const ObjectScan<ELFT> &scan : scans.all)
    for (CachedHashStringRef name : scan.calledNames) {
      calledNames.add(name.hash());
      called.insert(name.hash());
    }
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    auto add = [&](uint32_t section) {
      if (auto c = scan.object->classify(scan.object->sections()[section]))
        scan.addNext(section, *c, uint32_t(profile.entries.size()));
    };
    // Cold parts come first if the profile does not record them: of git's, 8% (gcc) to 35% (clang)
    // are entered, of called functions without a record next to none. So do the untouched blocks of
    // touched functions: other starts run some of them.
    for (auto [section, rank] : scan.unlikelyParts)
      if (!scan.named.count(section))
        lower(scan.next, section, Place{rank, SectionClass::Text});
    llvm::for_each(scan.calledSections, add);
    for (GlobalSymbol symbol : scan.code)
      if (calledNames.mayContain(symbol.hash) && called.contains(symbol.hash))
        add(scan.object->sectionOf(scan.object->symbols()[symbol.index]));
  });
}

#define INSTANTIATE(ELFT) template void placeCalls(ObjectScans<ELFT> &, const StartupProfile &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
