//===- matches.cpp - which of the matches of a profile's names count -------===//

#include "startup_set/matches.h"
#include "startup_set/front_worth.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The windows that profiles count in.
static constexpr uint64_t windowBytes = 64 << 10;

template <class ELFT>
void settleMatches(ObjectScans<ELFT> &scans, const EntryGroups &groups, FoundNames &found,
                   std::vector<bool> &unmovable, std::vector<EntryPlace> &places) {
  GroupFinds finds(groups, found);
  for (const ObjectScan<ELFT> &scan : scans.all)
    for (const EntryMatch &m : scan.matches)
      finds.note(m.entry, m.rank);
  finds.endNotes();
  SmallVector<EntryMatch, 0> kept;
  for (ObjectScan<ELFT> &scan : scans.all) {
    kept.clear();
    for (EntryMatch &m : scan.matches)
      finds.accept(m.entry, m.rank, m.definition, [&](uint32_t entry) {
        if (!m.section) {
          unmovable[entry] = true;
          return;
        }
        kept.push_back(m);
        kept.back().entry = entry;
        places.push_back(placeOf(scan, kept.back()));
      });
    scan.matches.assign(kept.begin(), kept.end());
  }
}

template <class ELFT>
static void placeMatchesOf(ObjectScan<ELFT> &scan, const StartupProfile &profile) {
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
  for (const EntryMatch &m : scan.matches) {
    const Touched &t = touched.find(m.section)->second;
    // All of the writable data is in the front anyway.
    bool isConstant =
        m.sectionClass == SectionClass::Text || m.sectionClass == SectionClass::Rodata;
    uint64_t size = scan.object->sections()[m.section].sh_size;
    lower(isConstant && !belongsToFront(size, t.windows, t.share) ? scan.next : scan.named,
          m.section, Place{m.entry, m.sectionClass});
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

template <class ELFT> void placeMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile) {
  scans.forEach([&](ObjectScan<ELFT> &scan) { placeMatchesOf(scan, profile); });
}

#define INSTANTIATE(ELFT)                                                                          \
  template void settleMatches(ObjectScans<ELFT> &, const EntryGroups &, FoundNames &,              \
                              std::vector<bool> &, std::vector<EntryPlace> &);                     \
  template void placeMatches(ObjectScans<ELFT> &, const StartupProfile &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)

} // namespace frontload
