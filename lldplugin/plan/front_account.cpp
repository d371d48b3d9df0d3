// What became of a front in its link.
#include "plan/front_account.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace llvm;

namespace frontload {

void FrontAccount::setLive(uint32_t number) {
  isLive.resize(placement.sections().size());
  isLive[number] = true;
}

std::pair<std::optional<Pattern>, std::optional<uint32_t>> FrontAccount::meet(StringRef name) {
  met.push_back(name.data());
  std::optional<uint32_t> number = placement.numberOf(name.data());
  if (!number)
    return {placement.patternOfOther(name), std::nullopt};
  std::optional<Pattern> pattern = placement.sections()[*number].pattern;
  if (!pattern)
    setLive(*number);
  return {pattern, number};
}

uint32_t FrontAccount::place(uint32_t number) {
  setLive(number);
  return placement.sections()[number].order;
}

void FrontAccount::place(const char *name) {
  if (std::optional<uint32_t> number = placement.numberOf(name))
    setLive(*number);
}

void FrontAccount::finish() {
  isLive.resize(placement.sections().size());
  for (auto [number, section] : enumerate(placement.sections()))
    if (isInFront(uint32_t(number))) {
      sums[static_cast<unsigned>(section.sectionClass)] += section.sum;
      contributors[section.object] += section.sum.sections;
    }

  states.assign(profile.entries.size(), EntryState::NotDefined);
  auto raise = [&](uint32_t entry, EntryState state) {
    states[entry] = std::max(states[entry], state);
  };
  for (const EntryPlace &place : startupSet.entryPlaces().movable) {
    uint32_t number = *placement.numberOf(place.sectionName);
    raise(place.entry, !isLive[number]     ? EntryState::Unused
                       : isInFront(number) ? EntryState::Placed
                                           : EntryState::LeftOut);
  }
  // Strings are not judged before the output shows them.
  for (auto [entry, state] : enumerate(states))
    if (startupSet.entryPlaces().isKept[entry] || profile.entries[entry].kind == EntryKind::String)
      raise(entry, EntryState::Unmovable);
}

void FrontAccount::fold(const char *name) {
  std::optional<uint32_t> number = placement.numberOf(name);
  if (!number || !isInFront(*number))
    return;
  const PlannedSection &section = placement.sections()[*number];
  SectionSum &left = unfolded.try_emplace(*number, section.sum).first->second;
  if (!left.sections)
    return;
  // Any of the sections that share the name may be the folded one.
  uint64_t all = left.sections;
  SectionSum one{1, divideCeil(left.referred, all), left.bytes / all, left.padding / all};
  left += -one;
  sums[static_cast<unsigned>(section.sectionClass)] += -one;
  if (!--contributors[section.object])
    contributors.erase(section.object);
}

const SectionSum &FrontAccount::left(uint32_t number) const {
  auto folded = unfolded.find(number);
  return folded == unfolded.end() ? placement.sections()[number].sum : folded->second;
}

void FrontAccount::finishStrings() {
  if (!placement.uses(Pattern::Strings))
    return;
  // By HotStrings::State.
  constexpr EntryState ofString[] = {EntryState::NotDefined, EntryState::Unmovable,
                                     EntryState::Placed};
  for (auto [entry, state] : zip_equal(profile.entries, states))
    if (entry.kind == EntryKind::String)
      state = ofString[static_cast<unsigned>(startupSet.hotStrings().state(entry.name))];
}

StringMap<uint64_t> FrontAccount::wantedBytes() const {
  static constexpr std::pair<Pattern, StringRef> outputs[] = {{Pattern::Rodata, frontRodataSection},
                                                              {Pattern::Text, ".text"},
                                                              {Pattern::Data, frontDataSection},
                                                              {Pattern::Relro, ".data.rel.ro"}};
  StringMap<uint64_t> result;
  for (auto [pattern, output] : outputs) {
    // In .data.rel.ro, other sections lie behind those of the pattern.
    bool isLimited = pattern == Pattern::Relro && placement.uses(pattern);
    uint64_t bytes = 0;
    for (auto [number, section] : enumerate(placement.sections()))
      if (!isLive[number] || section.pattern != pattern)
        continue;
      else if (placement.isOfAllRuns(section))
        bytes += left(uint32_t(number)).bytes + left(uint32_t(number)).padding;
      else
        isLimited = true;
    if (isLimited)
      result[output] = bytes;
  }
  return result;
}

StringMap<Stretch> FrontAccount::tail() const {
  StringMap<Stretch> result;
  for (auto [number, section] : enumerate(placement.sections())) {
    const bool isText = section.pattern == Pattern::NextText;
    if (!isLive[number] || (!isText && section.pattern != Pattern::NextRodata))
      continue;
    const SectionSum &sum = left(uint32_t(number));
    const uint64_t bytes = sum.bytes + sum.padding / 2;
    Stretch &in = result[isText ? ".text" : ".rodata"];
    in.end += bytes;
    // What the profile names, and is left out of the front, comes first.
    in.begin += section.entry < profile.entries.size() ? bytes : 0;
  }
  return result;
}

std::vector<ExpectedPart> FrontAccount::expectedParts() const {
  std::vector<ExpectedPart> result;
  DenseMap<std::pair<uint32_t, uint32_t>, std::vector<LeftOutPart>> parts; // by object and section
  for (const LeftOutPart &part : startupSet.leftOutParts())
    parts[{part.object, part.section}].push_back(part);
  if (parts.empty())
    return result;
  // Sections that no entry names lie behind these.
  std::vector<const PlannedSection *> leading;
  for (auto [number, section] : enumerate(placement.sections()))
    if (isLive[number] && section.entry < profile.entries.size() &&
        section.pattern == Pattern::NextRodata)
      leading.push_back(&section);
  llvm::sort(leading, [](const PlannedSection *a, const PlannedSection *b) {
    return std::tie(a->order, a->object) < std::tie(b->order, b->object);
  });
  uint64_t offset = 0;
  for (const PlannedSection *planned : leading) {
    const auto *section = llvm::partition_point(
        placement.byObject()[planned->object],
        [&](const StartupSection &before) { return before.index < planned->index; });
    for (uint64_t left = planned->sum.sections; left; ++section) {
      if (section->name != planned->name)
        continue;
      --left;
      offset = alignTo(offset, uint64_t(1) << section->alignment);
      std::vector<LeftOutPart> own = parts.lookup({planned->object, section->index});
      llvm::sort(own, [](const LeftOutPart &a, const LeftOutPart &b) {
        return a.stretch.begin < b.stretch.begin;
      });
      for (const LeftOutPart &part : own)
        result.push_back({part, offset});
      offset += section->size;
    }
  }
  return result;
}

MatchSummary FrontAccount::matchSummary() const {
  MatchSummary result;
  for (auto [index, entry, state] : enumerate(profile.entries, states))
    switch (state) {
    case EntryState::NotDefined:
    case EntryState::Unused:
      if (entry.faded)
        ++result.faded;
      else if (entry.inlinable)
        ++result.inlined;
      else
        result.missing.push_back(entry.name);
      break;
    case EntryState::Unmovable:
      ++(entry.kind == EntryKind::String ? result.strings : result.kept);
      break;
    case EntryState::LeftOut:
    case EntryState::Placed:
      ++result.found;
      result.ambiguous += startupSet.foundNames().isAmbiguous(uint32_t(index));
    }
  return result;
}

} // namespace frontload
