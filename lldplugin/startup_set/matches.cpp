// Which of the matches of a profile's names count.
#include "startup_set/matches.h"
#include "startup_set/front_worth.h"
#include <tuple>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

template <class ELFT>
void settleMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile, FoundNames &found,
                   EntryPlaces &places) {
  size_t numMatches = 0;
  for (const ObjectScan<ELFT> &scan : scans.all)
    numMatches += scan.matches.size();
  places.movable.reserve(places.movable.size() + numMatches);
  for (ObjectScan<ELFT> &scan : scans.all)
    erase_if(scan.matches, [&](const EntryMatch &m) {
      if (!found.accept(m.entry, m.rank, m.definition))
        return true;
      if (m.section) {
        places.movable.push_back(placeOf(scan, m));
        return false;
      }
      places.isKept[m.entry] = true;
      if (m.keptSection) {
        places.kept.push_back(placeOf(scan, m));
        const ProfileEntry &profiled = profile.entries[m.entry];
        scan.touchedOthers[m.keptSection] +=
            profile.share(profiled) * std::max(1.0, static_cast<double>(profiled.windows));
      }
      return true;
    });
}

/// Calls `visit(section, windows)` for the named data sections larger than a window, with the
/// number of windows that the loader relocates.
template <class ELFT, class Visit>
static void addRelocatedWindows(const ObjectScan<ELFT> &scan, Visit visit) {
  SmallVector<uint32_t, 0> large;
  for (const EntryMatch &m : scan.matches)
    if ((m.sectionClass == SectionClass::Data || m.sectionClass == SectionClass::Relro) &&
        scan.object->sections()[m.section].sh_size > windowBytes)
      large.push_back(m.section);
  if (!large.empty())
    forEachRelocated(*scan.object, large, visit);
}

/// Whether a section of this class has to be worth its place in the front.
static bool mustBeWorth(SectionClass c, UnnamedRule unnamed) {
  bool isConstant = c == SectionClass::Text || c == SectionClass::Rodata;
  return isConstant || (c != SectionClass::Bss && unnamed != UnnamedRule::Kept);
}

/// Notes the touched stretch of a left-out section, if it is worth a request of its own. Only for
/// constants can the place in the output be calculated: FrontLink::expectedParts().
template <class ELFT>
static void addLeftOutPart(ObjectScan<ELFT> &scan, const EntryMatch &m,
                           const StartupProfile &profile) {
  const ProfileEntry &entry = profile.entries[m.entry];
  if (m.sectionClass != SectionClass::Rodata || !entry.stretch ||
      !isWorthARequest(entry.stretch->end - entry.stretch->begin, profile.share(entry)))
    return;
  StringRef contents = scan.object->contents(scan.object->sections()[m.section]);
  // The section may be smaller than the recorded one.
  if (m.offset < contents.size() && entry.stretch->end <= contents.size() - m.offset)
    scan.leftOutParts.push_back({scan.number,
                                 m.section,
                                 {m.offset + entry.stretch->begin, m.offset + entry.stretch->end},
                                 contents});
}

template <class ELFT>
void placeMatches(ObjectScan<ELFT> &scan, const StartupProfile &profile, UnnamedRule unnamed) {
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
    // Names without sections of their own share one, and may be touched far apart.
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
    const auto &section = scan.object->sections()[m.section];
    uint64_t size = section.sh_size;
    bool mustBe = mustBeWorth(m.sectionClass, unnamed);
    bool isLeftOut = mustBe && (!belongsToFront(size, t.windows, t.share) ||
                                costlyPadding(section.sh_addralign));
    bool isNew =
        lower(isLeftOut ? scan.next : scan.named, m.section, Place{m.entry, m.sectionClass});
    if (isLeftOut)
      addLeftOutPart(scan, m, profile);
    else if (uint64_t faulted = bytesIfFaulted(t.windows);
             isNew && mustBe && size > faulted &&
             !(scan.isGo && m.sectionClass == SectionClass::Rodata))
      // Behind the front, Go's constants would lie behind its variables.
      scan.sparse.push_back({m.section, size - faulted});
  }
  for (auto [section, place] : scan.named)
    scan.frontier.push_back({place.rank, section});
  // Go's runtime expects its constants before its variables, which end the front.
  if (scan.isGo)
    for (auto [index, section] : enumerate(scan.object->sections()))
      if (scan.object->classify(section) == SectionClass::Rodata && !scan.named.count(index)) {
        scan.next.erase(index);
        scan.referred.try_emplace(
            index, Place{uint32_t(profile.entries.size()) - 1, SectionClass::Rodata});
      }
}

/// At most one in this many bytes of a front may be an untouched byte of a sparsely touched
/// section. Then a front reads no more than a start without one, as long as that start reads a
/// tenth more than it touches. Usually it reads several times as much.
static constexpr uint64_t oneSparseIn = 10;

template <class ELFT> void leaveOutSparse(ObjectScans<ELFT> &scans, const StartupProfile &profile) {
  std::vector<std::tuple<uint64_t, ObjectScan<ELFT> *, uint32_t>> sparse; // excess, section
  uint64_t total = 0;
  for (ObjectScan<ELFT> &scan : scans.all) {
    for (const Places *places : {&scan.named, &scan.referred})
      for (const auto &[section, place] : *places)
        total += scan.object->sections()[section].sh_size;
    for (auto [section, excess] : scan.sparse) {
      sparse.push_back({excess, &scan, section});
      total -= excess;
    }
  }
  llvm::stable_sort(sparse, [](auto &a, auto &b) { return std::get<0>(a) < std::get<0>(b); });
  uint64_t allowed = total / oneSparseIn;
  for (auto [excess, scan, section] : sparse) {
    if (excess <= allowed) {
      allowed -= excess;
      continue;
    }
    allowed = 0; // the following ones are larger
    auto place = scan->named.find(section);
    lower(scan->next, section, place->second);
    scan->named.erase(place);
    for (const EntryMatch &m : scan->matches)
      if (m.section == section)
        addLeftOutPart(*scan, m, profile);
  }
}

#define INSTANTIATE(ELFT)                                                                          \
  template void settleMatches(ObjectScans<ELFT> &, const StartupProfile &, FoundNames &,           \
                              EntryPlaces &);                                                      \
  template void placeMatches(ObjectScan<ELFT> &, const StartupProfile &, UnnamedRule);             \
  template void leaveOutSparse(ObjectScans<ELFT> &, const StartupProfile &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
