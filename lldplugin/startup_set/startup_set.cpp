// The input sections that a profile resolves to.
//
// The steps: look up the symbols of all objects in the profile (look_up.h), decide which matches
// count (matches.h), add code that the linker will fold with them (identical_code.h), follow
// relocations to data (relocation_walk.h), and later find what is likely (likely_sections.h).
//
// This runs over all objects of a link, most of which the linker will not even extract from their
// archives, so it must be quick: a few nanoseconds per symbol, and all in parallel.
#include "startup_set/startup_set.h"
#include "profile/tiers.h"
#include "startup_set/code_labels.h"
#include "startup_set/identical_code.h"
#include "startup_set/likely_sections.h"
#include "startup_set/look_up.h"
#include "startup_set/matches.h"
#include "startup_set/relocation_walk.h"
#include "startup_set/unnamed_sections.h"
#include "llvm/Support/MathExtras.h"
#include <memory>
#include <utility>

using namespace llvm;

namespace frontload {

StartupSet::StartupSet(const StartupProfile &p, bool g, Folding f, UnnamedRule u, bool isGeneral)
    : profile(p), gathersStrings(g), folding(f), unnamed(u), isUntrained(isGeneral),
      found(p.entries.size()) {
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

/// Adds sections of an object to a list.
template <class ELFT>
static void addSections(
    StartupSections &to, const ObjectScan<ELFT> &scan, const Places &found, Region region,
    bool named, function_ref<bool(const Place &)> isPlaced = [](auto &) { return true; }) {
  for (const auto &[index, place] : found) {
    if (!isPlaced(place))
      continue;
    const auto &section = scan.object->sections()[index];
    uint64_t alignment = section.sh_addralign;
    to.push_back({scan.object->nameBegin(section).data(), index, place.rank, place.sectionClass,
                  region, named, uint8_t(isPowerOf2_64(alignment) ? Log2_64(alignment) : 0),
                  uint64_t(section.sh_size)});
  }
}

static void sortByIndex(StartupSections &sections) {
  llvm::sort(sections, [](const auto &a, const auto &b) { return a.index < b.index; });
}

/// The sections that were found in each object.
template <class ELFT>
static std::vector<StartupSections> sectionsIn(ObjectScans<ELFT> &scans, UnnamedRule unnamed,
                                               bool ordersRelro) {
  // Referred .data.rel.ro is placed only if the loader does not write to all of it.
  auto isPlaced = [&](const Place &place) {
    return place.sectionClass == SectionClass::Rodata ||
           (place.sectionClass == SectionClass::Data && unnamed != UnnamedRule::Kept) ||
           (place.sectionClass == SectionClass::Relro &&
            (unnamed == UnnamedRule::Placed || ordersRelro));
  };
  std::vector<StartupSections> result(scans.all.size());
  shareWork(scans.numThreads, scans.all.size(), [&](size_t i) {
    const ObjectScan<ELFT> &scan = scans.all[i];
    addSections(result[i], scan, scan.named, Region::Front, /*named=*/true);
    addSections(result[i], scan, scan.referred, Region::Front, /*named=*/false, isPlaced);
    addSections(result[i], scan, scan.next, Region::Next, /*named=*/false);
    sortByIndex(result[i]);
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
  if (isUntrained)
    scans.forEach(addConstructors<ELFT>);
  // From code to data, then from data to the data it points to.
  RelocationWalk<ELFT> walk(scans, profile, *contents, dataNames, gathersStrings);
  walk.step();
  walk.step();
  leaveOutSparse(scans, profile);
  scans.forEach(placeFirstLabel<ELFT>);
  scans.forEach(noteStartup<ELFT>);
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
  std::vector<StartupSections> result = sectionsIn(scans, unnamed, isIdle);
  auto kept = std::make_shared<ObjectScans<ELFT>>(std::move(scans));
  tails.push_back([this, kept](const NamesByObject &linked) {
    findLikely(*kept, profile, linked, isUntrained);
    std::vector<StartupSections> tail(kept->all.size());
    for (auto [scan, sections] : zip_equal(kept->all, tail)) {
      addSections(sections, scan, scan.tail, Region::Next, /*named=*/false);
      sortByIndex(sections);
    }
    return tail;
  });
  return result;
}

std::vector<StartupSections> StartupSet::find(ArrayRef<InputObject> objects, unsigned numThreads) {
  if (profileRead.valid())
    profileRead.get();
  std::vector<StartupSections> result(objects.size());
  const InputObject *first = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  if (first != objects.end())
    withElfType(first->buffer.getBuffer(),
                [&]<class ELFT>() { result = findIn<ELFT>(objects, numThreads); });
  else
    tails.push_back([empty = result](auto &) { return empty; });
  numObjects += uint32_t(objects.size());
  return result;
}

std::vector<StartupSections> StartupSet::findTails(const NamesByObject &linked) {
  std::vector<StartupSections> result(numWithTails);
  for (const auto &find : std::exchange(tails, {}))
    llvm::append_range(result, find(linked));
  numWithTails = uint32_t(result.size());
  return result;
}

} // namespace frontload
