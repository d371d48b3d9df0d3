//===- matches.cpp - which of the matches of a profile's names count -------===//

#include "startup_set/matches.h"
#include "startup_set/front_worth.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

template <class ELFT>
void settleMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile, FoundNames &found,
                   std::vector<bool> &unmovable, std::vector<EntryPlace> &places) {
  for (const ObjectScan<ELFT> &scan : scans.all)
    for (const EntryMatch &m : scan.matches)
      found.note(m.entry, m.rank);
  for (ObjectScan<ELFT> &scan : scans.all)
    llvm::erase_if(scan.matches, [&](const EntryMatch &m) {
      if (!found.accept(m.entry, m.rank, m.definition))
        return true;
      if (!m.section) {
        unmovable[m.entry] = true;
        const ProfileEntry &entry = profile.entries[m.entry];
        if (m.keptSection)
          scan.touchedOthers[m.keptSection] +=
              profile.share(entry) * std::max(1.0, static_cast<double>(entry.windows));
        return true;
      }
      places.push_back(placeOf(scan, m));
      return false;
    });
}

/// Calls `visit(section, windows)` for the named data of an object that is larger than a window: the
/// loader relocates so many windows of it.
template <class ELFT, class Visit>
static void addRelocatedWindows(const ObjectScan<ELFT> &scan, Visit visit) {
  SmallVector<uint32_t, 0> large;
  for (const EntryMatch &m : scan.matches)
    if (m.sectionClass == SectionClass::Data &&
        scan.object->sections()[m.section].sh_size > windowBytes)
      large.push_back(m.section);
  if (!large.empty())
    forEachRelocated(*scan.object, large, [&](uint32_t index, const auto &relocations) {
      visit(index, relocatedWindows(scan.object->sections()[index], relocations));
    });
}

/// Whether a section of this class is in the front only if it is worth that.
static bool mustBeWorth(SectionClass c, UnnamedRule unnamed) {
  switch (c) {
  case SectionClass::Text:
  case SectionClass::Rodata:
    return true;
  case SectionClass::Relro: // the loader writes to all of it, if it writes to any
    return unnamed == UnnamedRule::Placed;
  case SectionClass::Data:
    return unnamed != UnnamedRule::Kept;
  case SectionClass::Bss:
    return false;
  }
  llvm_unreachable("a class without a rule");
}

template <class ELFT>
static void placeMatchesOf(ObjectScan<ELFT> &scan, const StartupProfile &profile,
                           UnnamedRule unnamed) {
  struct Touched {
    double share = 0, windows = 0;
  };
  SmallDenseMap<uint32_t, Touched> touched;
  DenseSet<std::pair<uint32_t, uint64_t>> seenWindows;
  for (const EntryMatch &m : scan.matches) {
    const ProfileEntry &entry = profile.entries[m.entry];
    double share = profile.share(entry);
    Touched &t = touched[m.section];
    t.share = std::max(t.share, share);
    // What is not in sections of its own has many names in one, which may be touched far apart.
    if (seenWindows.insert({m.section, m.offset / windowBytes}).second)
      t.windows += share * static_cast<double>(entry.windows);
  }
  if (unnamed == UnnamedRule::Relocated)
    addRelocatedWindows(scan, [&](uint32_t section, double windows) {
      Touched &t = touched.find(section)->second;
      t.windows = std::max(t.windows, windows);
    });
  for (const EntryMatch &m : scan.matches) {
    const Touched &t = touched.find(m.section)->second;
    bool isLeftOut = mustBeWorth(m.sectionClass, unnamed) &&
                     !belongsToFront(scan.object->sections()[m.section].sh_size, t.windows, t.share);
    lower(isLeftOut ? scan.next : scan.named, m.section, Place{m.entry, m.sectionClass});
  }
  for (auto [section, place] : scan.named)
    scan.frontier.push_back({place.rank, section});
  // Go's runtime looks for its constants before its variables only, which end the front.
  if (scan.isGo)
    for (auto [index, section] : enumerate(scan.object->sections()))
      if (scan.object->classify(section) == SectionClass::Rodata && !scan.named.count(index)) {
        scan.next.erase(index);
        scan.referred.try_emplace(
            index, Place{uint32_t(profile.entries.size()) - 1, SectionClass::Rodata});
      }
}

template <class ELFT>
void placeMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile, UnnamedRule unnamed) {
  scans.forEach([&](ObjectScan<ELFT> &scan) { placeMatchesOf(scan, profile, unnamed); });
}

#define INSTANTIATE(ELFT)                                                                          \
  template void settleMatches(ObjectScans<ELFT> &, const StartupProfile &, FoundNames &,           \
                              std::vector<bool> &, std::vector<EntryPlace> &);                                          \
  template void placeMatches(ObjectScans<ELFT> &, const StartupProfile &, UnnamedRule);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)

} // namespace frontload
