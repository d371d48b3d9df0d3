//===- front_link.cpp - one link with a front ------------------------------===//

#include "front_link.h"
#include "tiers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/TimeProfiler.h"
#include <functional>
#include <tuple>
#include <utility>

using namespace llvm;

namespace frontload {

/// The linker asks about each section of the link, and for nearly all of them the answer is no.
static uint32_t hashOf(const char *name) {
  return densemap::detail::mix(reinterpret_cast<uintptr_t>(name));
}

/// A page: less data than that, in bytes, is not put in order.
static constexpr uint64_t leastToOrder = 4096;

static StartupProfile inPlannedOrder(StartupProfile profile) {
  sortByTier(profile);
  return profile;
}

FrontLink::FrontLink(StartupProfile p, std::string path, LinkTraits t)
    : profile(inPlannedOrder(std::move(p))), pathOfProfile(std::move(path)), traits(t),
      startupSet(profile, t.mergesStrings, t.foldsCode) {}

std::optional<MemoryBufferRef> FrontLink::firstObject() const {
  auto found = llvm::find_if(objects, [](const InputObject &o) { return !o.isLazy && o.isElf(); });
  if (found == objects.end())
    found = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  return found == objects.end() ? std::nullopt : std::optional(found->buffer);
}

void FrontLink::beginPlanning() {
  auto work = [this, begun = std::exchange(objects, {})] { find(begun); };
  if (parallel::strategy.ThreadsRequested == 1)
    work();
  else
    planner = std::thread(std::move(work));
}

void FrontLink::finishPlanning() {
  TimeTraceScope scope("Finish planning the front");
  if (planner.joinable())
    planner.join();
  find(std::exchange(objects, {}));
}

void FrontLink::find(ArrayRef<InputObject> begun) {
  std::vector<StartupSections> found = startupSet.find(begun);
  size_t numSections = 0;
  for (const StartupSections &sections : found)
    numSections += sections.size();
  known.reserve(known.size() + numSections);
  for (StartupSections &sections : found) {
    uint32_t object = sectionsFound.size();
    for (const StartupSection &section : sections) {
      Known fresh{section.rank,
                  object,
                  section.index,
                  section.sectionClass,
                  section.region,
                  false,
                  false,
                  0,
                  {}};
      Known &k = known.try_emplace(section.name, fresh).first->second;
      if (std::tie(section.region, section.rank) < std::tie(k.region, k.rank))
        std::tie(k.region, k.rank) = std::tie(section.region, section.rank);
      k.index = std::min(k.index, section.index);
      k.contents += Placed{1, !section.named, section.size};
      knownNames.add(hashOf(section.name));
    }
    sectionsFound.push_back(std::move(sections));
  }
  if (numSections)
    putInOrder();
}

static Pattern patternOf(SectionClass c, Region region) {
  bool isFront = region == Region::Front;
  switch (c) {
  case SectionClass::Rodata:
    return isFront ? Pattern::Rodata : Pattern::NextRodata;
  case SectionClass::Text:
    return isFront ? Pattern::Text : Pattern::NextText;
  case SectionClass::Relro:
    return Pattern::Relro;
  case SectionClass::Data:
    return Pattern::Data;
  case SectionClass::Bss:
    return Pattern::Bss;
  }
  llvm_unreachable("a class without a pattern");
}

/// Gives the known sections their order in their patterns. What has one rank (all that is next,
/// what one function refers to) lies in the order of the objects on the command line.
void FrontLink::putInOrder() {
  auto key = [](const auto *entry) {
    const Known &k = entry->second;
    return std::tie(k.region, k.rank, k.object, k.index);
  };
  std::vector<DenseMap<const char *, Known>::value_type *> sorted;
  sorted.reserve(known.size());
  for (auto &entry : known)
    sorted.push_back(&entry);
  llvm::sort(sorted, [&](auto *a, auto *b) { return key(a) < key(b); });
  std::array<uint32_t, numPatterns> next = {};
  std::optional<std::pair<Region, uint32_t>> current;
  DenseMap<StringRef, uint32_t> copies; // the order of the names of the current rank
  for (auto *entry : sorted) {
    Known &k = entry->second;
    if (std::pair rank(k.region, k.rank); current != rank) {
      current = rank;
      copies.clear();
    }
    uint32_t &end = next[static_cast<unsigned>(patternOf(k.sectionClass, k.region))];
    auto [copy, isFirst] = copies.try_emplace(entry->first, end);
    end += isFirst;
    k.order = copy->second;
  }
}

std::string FrontLink::script() {
  // Not the classes that were found so far: link-time optimization may bring more.
  auto use = [&](Pattern pattern) { patterns[static_cast<unsigned>(pattern)] = true; };
  for (Pattern always : {Pattern::Rodata, Pattern::Text, Pattern::NextRodata, Pattern::NextText})
    use(always);
  if (traits.mergesStrings)
    use(Pattern::Strings);
  // The front has all of the writable data, so its order matters less, and every pattern costs a
  // hundredth of the link. Relocation writes to nearly all of .data.rel.ro, and less than a page
  // has no order worth having.
  for (SectionClass c : {SectionClass::Relro, SectionClass::Data, SectionClass::Bss}) {
    uint64_t bytes = 0;
    for (const ProfileEntry &entry : profile.entries)
      if (entry.sectionClass == c)
        bytes += entry.bytes ? entry.bytes : leastToOrder;
    // What of it may be folded the linker knows by its name, which a mark would change.
    bool isLeft = c == SectionClass::Relro && (traits.isRelocated || traits.foldsCode);
    if (bytes >= leastToOrder && !isLeft)
      use(patternOf(c, Region::Front));
  }
  return frontScript(patterns, traits.selection);
}

/// The pattern of a known section, if the script has it.
std::optional<Pattern> FrontLink::usedPatternOf(const Known &k) const {
  Pattern pattern = patternOf(k.sectionClass, k.region);
  return patterns[static_cast<unsigned>(pattern)] ? std::optional(pattern) : std::nullopt;
}

std::vector<FrontLink::PlannedSection> FrontLink::plannedSections() const {
  std::vector<PlannedSection> result;
  result.reserve(known.size());
  for (const auto &[name, k] : known)
    result.push_back({name, k.object, usedPatternOf(k), k.order});
  return result;
}

std::optional<Pattern> FrontLink::patternFor(StringRef name) {
  if (knownNames.mayContain(hashOf(name.data())))
    if (auto it = known.find(name.data()); it != known.end()) {
      if (std::optional<Pattern> pattern = usedPatternOf(it->second))
        return pattern;
      it->second.isPlaced = true; // with all of its class
      return std::nullopt;
    }
  return traits.mergesStrings && isStringSection(name) ? std::optional(Pattern::Strings)
                                                       : std::nullopt;
}

void FrontLink::place(StringRef name) {
  if (auto it = known.find(name.data()); it != known.end())
    it->second.isPlaced = true;
}

void FrontLink::keepPlace(StringRef name) {
  if (auto it = known.find(name.data()); it != known.end())
    it->second.keepsPlace = true;
}

std::optional<int> FrontLink::priority(StringRef name) const {
  auto it = known.find(name.data());
  return it == known.end() ? std::nullopt : std::optional<int>(it->second.order);
}

void FrontLink::finish() {
  DenseSet<uint32_t> contributors;
  for (const auto &[name, k] : known)
    if (k.isPlaced && k.keepsPlace) {
      numKeptSections += k.contents.sections;
    } else if (k.isPlaced && k.region == Region::Front) {
      sums[static_cast<unsigned>(k.sectionClass)] += k.contents;
      contributors.insert(k.object);
    }
  numPlacedObjects = contributors.size();

  states.assign(profile.entries.size(), EntryState::NotDefined);
  auto raise = [&](uint32_t entry, EntryState state) {
    states[entry] = std::max(states[entry], state);
  };
  for (const EntryPlace &p : startupSet.entryPlaces()) {
    const Known &k = known.find(p.sectionName)->second;
    raise(p.entry, !k.isPlaced                 ? EntryState::Unused
                   : k.keepsPlace              ? EntryState::Unmovable
                   : k.region == Region::Front ? EntryState::Placed
                                               : EntryState::LeftOut);
  }
  // Strings are told by the output; until then they are not judged.
  for (auto [entry, state] : enumerate(states))
    if (startupSet.unmovableEntries()[entry] || profile.entries[entry].kind == EntryKind::String)
      raise(entry, EntryState::Unmovable);
}

MatchSummary FrontLink::matchSummary() const {
  MatchSummary result;
  for (auto [index, entry, state] : enumerate(profile.entries, states))
    switch (state) {
    case EntryState::NotDefined:
    case EntryState::Unused:
      result.missing.push_back(entry.name);
      break;
    case EntryState::Unmovable:
      break;
    case EntryState::LeftOut:
    case EntryState::Placed:
      ++result.found;
      result.ambiguous += foundNames().isAmbiguous(uint32_t(index));
    }
  return result;
}

void FrontLink::finishStrings() {
  if (!traits.mergesStrings)
    return;
  for (auto [entry, state] : zip_equal(profile.entries, states))
    if (entry.kind == EntryKind::String)
      switch (hotStrings().state(entry.name)) {
      case HotStrings::State::Absent:
        state = EntryState::NotDefined;
        break;
      case HotStrings::State::Elsewhere:
        state = EntryState::Unmovable;
        break;
      case HotStrings::State::Placed:
        state = EntryState::Placed;
        break;
      }
}

} // namespace frontload
