//===- startup_set.cpp - the input sections that a profile resolves to -----===//
//
// The steps: look up the symbols of all objects in the profile (look_up.h), decide which matches
// count (matches.h), add code that the linker will fold with them (identical_code.h), follow
// relocations to data, and put the called functions next (relocation_walk.h).
//
// This runs over all objects of a link, most of which the linker will not even extract from their
// archives, so it must be quick: a few nanoseconds per symbol, and all in parallel.
//
//===----------------------------------------------------------------------===//

#include "startup_set/startup_set.h"
#include "profile/tiers.h"
#include "startup_set/code_labels.h"
#include "startup_set/identical_code.h"
#include "startup_set/look_up.h"
#include "startup_set/matches.h"
#include "startup_set/relocation_walk.h"
#include "startup_set/unnamed_sections.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace llvm;

namespace frontload {

StartupSet::StartupSet(const StartupProfile &p, bool g, Folding f, UnnamedRule u)
    : profile(p), gathersStrings(g), folding(f), unnamed(u), found(p.entries.size()) {
  places.isKept.resize(p.entries.size());
  profileRead = std::async(std::launch::async, [this] {
    names.emplace(profile);
    contents.emplace(profile);
    strings.add(""); // profiles cannot name it, and nearly every program reads it
    for (const ProfileEntry &entry : profile.entries)
      if (entry.kind == EntryKind::String)
        strings.add(entry.name);
  });
}

/// The sections that were found in each object.
template <class ELFT>
static std::vector<StartupSections> sectionsIn(ObjectScans<ELFT> &scans, UnnamedRule unnamed,
                                               bool ordersRelro) {
  std::vector<StartupSections> result(scans.all.size());
  shareWork(scans.numThreads, scans.all.size(), [&](size_t i) {
    auto add = [&](const Places &found, Region region, bool named) {
      for (const auto &[index, place] : found) {
        // Referred .data.rel.ro is placed only if the loader does not write to all of it.
        bool isPlaced =
            place.sectionClass == SectionClass::Rodata ||
            (place.sectionClass == SectionClass::Data && unnamed != UnnamedRule::Kept) ||
            (place.sectionClass == SectionClass::Relro &&
             (unnamed == UnnamedRule::Placed || ordersRelro));
        if (&found == &scans.all[i].referred && !isPlaced)
          continue;
        const auto &section = scans.all[i].object->sections()[index];
        uint64_t alignment = section.sh_addralign;
        result[i].push_back({scans.all[i].object->nameBegin(section).data(), index, place.rank,
                             place.sectionClass, region, named,
                             uint8_t(isPowerOf2_64(alignment) ? Log2_64(alignment) : 0),
                             uint64_t(section.sh_size)});
      }
    };
    add(scans.all[i].named, Region::Front, /*named=*/true);
    add(scans.all[i].referred, Region::Front, /*named=*/false);
    add(scans.all[i].next, Region::Next, /*named=*/false);
    llvm::sort(result[i], [](const auto &a, const auto &b) { return a.index < b.index; });
  });
  return result;
}

template <class ELFT>
std::vector<StartupSections> StartupSet::findIn(ArrayRef<InputObject> objects,
                                                unsigned numThreads) {
  NameFilter dataNames(1 << 22);
  ObjectScans<ELFT> scans = openObjects<ELFT>(objects, numObjects, *contents, numThreads);
  const WantedNames wanted{profile, *contents, *names, unnamed != UnnamedRule::Kept};
  auto noteMatches = [&] {
    for (const ObjectScan<ELFT> &scan : scans.all)
      for (const EntryMatch &m : scan.matches)
        found.note(m.entry, m.rank);
  };
  lookUp(scans, wanted, dataNames);
  noteMatches();
  if (names->prepareStable([&](uint32_t entry) { return found.isSettled(entry); })) {
    lookUpStable(scans, wanted);
    noteMatches();
  }
  for (const ObjectScan<ELFT> &scan : scans.all)
    isGo |= scan.isGo;
  settleMatches(scans, profile, found, places);
  if (folding != Folding::None)
    addIdenticalCode(scans, folding, places.movable);
  scans.forEach([&](ObjectScan<ELFT> &scan) { placeMatches(scan, profile, unnamed); });
  // From code to data, then from data to the data it points to.
  RelocationWalk<ELFT> walk(scans, profile, *contents, dataNames, gathersStrings);
  walk.step();
  walk.step();
  leaveOutSparse(scans, profile);
  walk.placeCalls();
  scans.forEach(placeFirstLabel<ELFT>);
  if (unnamed != UnnamedRule::Kept) {
    bool isRelocated = unnamed == UnnamedRule::Relocated;
    // The loader relocates data in every run.
    uint32_t endOfFirstTier = sizeOfFirstTier(profile);
    isIdle |= addUnnamedData(scans, endOfFirstTier ? endOfFirstTier - 1 : 0, isRelocated);
    for (const auto &[name, output] : findOtherOutputs(scans, isRelocated))
      others[name] += output;
  }
  for (const ObjectScan<ELFT> &scan : scans.all) {
    for (StringRef string : scan.strings)
      strings.add(string);
    llvm::append_range(parts, scan.leftOutParts);
  }
  return sectionsIn(scans, unnamed, isIdle);
}

std::vector<StartupSections> StartupSet::find(ArrayRef<InputObject> objects, unsigned numThreads) {
  if (profileRead.valid())
    profileRead.get();
  std::vector<StartupSections> result(objects.size());
  const InputObject *first = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  if (first != objects.end())
    withElfType(first->buffer.getBuffer(),
                [&]<class ELFT>() { result = findIn<ELFT>(objects, numThreads); });
  numObjects += uint32_t(objects.size());
  return result;
}

} // namespace frontload
