//===- front_link.cpp - one link with a front ------------------------------===//

#include "plan/front_link.h"
#include "names/hashed_name.h"
#include "plan/other_script.h"
#include "profile/tiers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/TimeProfiler.h"
#include <functional>
#include <numeric>
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

/// The patterns that a script needs for the profile: not the classes that are found, since
/// link-time optimization may bring more.
static PatternSet patternsOf(const StartupProfile &profile, const LinkTraits &traits) {
  PatternSet patterns = {};
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
  return patterns;
}

FrontLink::FrontLink(StartupProfile p, std::string path, LinkTraits t)
    : profile(inPlannedOrder(std::move(p))), pathOfProfile(std::move(path)), traits(t),
      patterns(patternsOf(profile, t)), startupSet(profile, t.mergesStrings, t.foldsCode) {}

void FrontLink::addScript(StringRef script) { isEndAssigned |= assigns(script, "_end"); }

std::optional<MemoryBufferRef> FrontLink::firstObject() const {
  auto found = llvm::find_if(objects, [](const InputObject &o) { return !o.isLazy && o.isElf(); });
  if (found == objects.end())
    found = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  return found == objects.end() ? std::nullopt : std::optional(found->buffer);
}

/// How many threads the linker may have.
static unsigned numThreads() { return parallel::strategy.compute_thread_count(); }

void FrontLink::beginPlanning() {
  if (numThreads() > 1)
    planner =
        std::thread([this, begun = std::exchange(objects, {})] { plan(begun, numThreads() - 1); });
}

void FrontLink::finishPlanning() {
  TimeTraceScope scope("Finish planning the front");
  if (planner.joinable())
    planner.join();
  plan(std::exchange(objects, {}), numThreads());
}

void FrontLink::plan(ArrayRef<InputObject> begun, unsigned threads) {
  size_t before = known.size();
  take(startupSet.find(begun, threads));
  if (known.size() != before)
    putInOrder();
}

/// Takes note of what was found in the next objects.
void FrontLink::take(std::vector<StartupSections> found) {
  size_t numSections = 0;
  for (const StartupSections &sections : found)
    numSections += sections.size();
  known.reserve(known.size() + numSections);
  numbers.reserve(numbers.size() + numSections);
  sectionsFound.reserve(sectionsFound.size() + found.size());
  for (StartupSections &sections : found) {
    uint32_t object = sectionsFound.size();
    for (const StartupSection &section : sections) {
      auto [entry, isNew] = numbers.try_emplace(section.name, uint32_t(known.size()));
      Known fresh{section.name,
                  section.rank,
                  object,
                  section.index,
                  section.sectionClass,
                  section.region,
                  false,
                  false,
                  0,
                  {}};
      Known &k = isNew ? known.emplace_back(fresh) : known[entry->second];
      if (std::tie(section.region, section.rank) < std::tie(k.region, k.rank))
        std::tie(k.region, k.rank) = std::tie(section.region, section.rank);
      k.contents += Placed{1, !section.named, section.size};
      knownNames.add(hashOf(section.name));
    }
    sectionsFound.push_back(std::move(sections));
  }
}

/// Gives the known sections their order in their patterns. What has one rank (all that is next,
/// what one function refers to) lies in the order of the objects on the command line.
void FrontLink::putInOrder() {
  // They are in that order, so counting those of each rank sorts them.
  const size_t numRanks = profile.entries.size() + 1;
  auto placeOf = [&](const Known &k) { return static_cast<size_t>(k.region) * numRanks + k.rank; };
  std::vector<uint32_t> ends(2 * numRanks);
  for (const Known &k : known)
    ++ends[placeOf(k)];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<uint32_t> begins(ends);
  std::vector<uint32_t> sorted(known.size());
  for (uint32_t i = known.size(); i-- > 0;)
    sorted[--begins[placeOf(known[i])]] = i;

  std::array<uint32_t, numPatterns> next = {};
  auto nextOf = [&](const Known &k) -> uint32_t & {
    return next[static_cast<unsigned>(patternOf(k.sectionClass, k.region))];
  };
  DenseMap<CachedHashStringRef, uint32_t> copies; // the order of the names of one rank
  for (auto [begin, end] : zip_equal(begins, ends)) {
    if (end - begin == 1) { // as most
      Known &only = known[sorted[begin]];
      only.order = nextOf(only)++;
      continue;
    }
    copies.clear();
    for (uint32_t i : ArrayRef(sorted).slice(begin, end - begin)) {
      Known &k = known[i];
      auto [copy, isFirst] = copies.try_emplace(hashName(k.name), nextOf(k));
      nextOf(k) += isFirst;
      k.order = copy->second;
    }
  }
}

std::string FrontLink::script() const { return frontScript(patterns, traits.selection); }

/// The pattern of a known section, if the script has it.
std::optional<Pattern> FrontLink::usedPatternOf(const Known &k) const {
  Pattern pattern = patternOf(k.sectionClass, k.region);
  return patterns[static_cast<unsigned>(pattern)] ? std::optional(pattern) : std::nullopt;
}

std::vector<FrontLink::PlannedSection> FrontLink::plannedSections() const {
  std::vector<PlannedSection> result;
  result.reserve(known.size());
  for (const Known &k : known)
    result.push_back({k.name, k.object, usedPatternOf(k), k.order});
  return result;
}

std::optional<uint32_t> FrontLink::numberOf(StringRef name) const {
  if (!knownNames.mayContain(hashOf(name.data())))
    return std::nullopt;
  auto it = numbers.find(name.data());
  return it == numbers.end() ? std::nullopt : std::optional(it->second);
}

std::optional<Pattern> FrontLink::patternFor(StringRef name) const {
  if (std::optional<uint32_t> number = numberOf(name))
    return usedPatternOf(known[*number]);
  return traits.mergesStrings && isStringSection(name) ? std::optional(Pattern::Strings)
                                                       : std::nullopt;
}

std::optional<uint32_t> FrontLink::place(StringRef name) {
  std::optional<uint32_t> number = numberOf(name);
  if (!number)
    return std::nullopt;
  known[*number].isPlaced = true;
  return known[*number].order;
}

void FrontLink::keepPlace(StringRef name) {
  if (std::optional<uint32_t> number = numberOf(name))
    known[*number].keepsPlace = true;
}

void FrontLink::finish() {
  DenseSet<uint32_t> contributors;
  for (const Known &k : known)
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
    const Known &k = known[*numberOf(p.sectionName)];
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
      ++(entry.kind == EntryKind::String ? result.strings : result.kept);
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
