//===- placement.cpp - where each section of a front goes ------------------===//

#include "plan/placement.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>
#include <tuple>

using namespace llvm;

namespace frontload {

/// The pattern of a section; none of writable data behind the front, which has no order.
static std::optional<Pattern> patternOf(SectionClass c, Region region) {
  if (region == Region::Next)
    return c == SectionClass::Rodata ? std::optional(Pattern::NextRodata)
           : c == SectionClass::Text ? std::optional(Pattern::NextText)
                                     : std::nullopt;
  switch (c) {
  case SectionClass::Rodata:
    return Pattern::Rodata;
  case SectionClass::Text:
    return Pattern::Text;
  case SectionClass::Relro:
    return Pattern::Relro;
  case SectionClass::Data:
    return Pattern::Data;
  case SectionClass::Bss:
    return Pattern::Bss;
  }
  llvm_unreachable("a class without a pattern");
}

void Placement::add(std::vector<StartupSections> more, bool ordersRelro) {
  size_t before = planned.size(), numSections = before;
  for (const StartupSections &sections : more)
    numSections += sections.size();
  planned.reserve(numSections);
  numbers.reserve(numSections);
  for (StartupSections &sections : more) {
    for (const StartupSection &section : sections) {
      auto [number, isNew] = numbers.try_emplace(section.name, uint32_t(planned.size()));
      if (isNew)
        planned.push_back({section.name,
                           uint32_t(found.size()),
                           section.index,
                           section.sectionClass,
                           section.region,
                           section.rank,
                           {},
                           {},
                           0});
      PlannedSection &one = planned[number->second];
      std::tie(one.region, one.entry) =
          std::min(std::tuple(one.region, one.entry), std::tuple(section.region, section.rank));
      one.sum += {1, !section.named, section.size, (uint64_t(1) << section.alignment) - 1};
      names.add(hashOfAddress(section.name));
    }
    found.push_back(std::move(sections));
  }
  bool isNew = ordersRelro && !uses(Pattern::Relro);
  patterns[static_cast<unsigned>(Pattern::Relro)] |= ordersRelro;
  if (isNew || planned.size() != before)
    putInOrder();
}

/// Gives the sections their order in their patterns. Sections of one entry (all next sections,
/// those that one function refers to) lie in the order of the objects on the command line.
void Placement::putInOrder() {
  // The sections are in that order, so counting those of each entry sorts them.
  const size_t numRanks = numEntries + 1;
  auto rankOf = [&](const PlannedSection &one) {
    return static_cast<size_t>(one.region) * numRanks + one.entry;
  };
  std::vector<uint32_t> ends(2 * numRanks);
  for (const PlannedSection &one : planned)
    ++ends[rankOf(one)];
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<uint32_t> begins(ends);
  std::vector<uint32_t> sorted(planned.size());
  for (uint32_t i = planned.size(); i-- > 0;)
    sorted[--begins[rankOf(planned[i])]] = i;

  std::array<uint32_t, numPatterns> next = {};
  DenseMap<CachedHashStringRef, uint32_t> copies; // the order of the names of one entry
  for (auto [begin, end] : zip_equal(begins, ends)) {
    copies.clear();
    MutableArrayRef<uint32_t> ofEntry = MutableArrayRef(sorted).slice(begin, end - begin);
    if (end - begin > 1) // labels before code (startup_set/code_labels.h)
      std::stable_partition(ofEntry.begin(), ofEntry.end(),
                            [&](uint32_t i) { return !planned[i].sum.bytes; });
    for (uint32_t i : ofEntry) {
      PlannedSection &one = planned[i];
      one.pattern = patternOf(one.sectionClass, one.region);
      if (!one.pattern || !uses(*one.pattern)) {
        one.pattern.reset();
        continue;
      }
      uint32_t &nextOrder = next[static_cast<unsigned>(*one.pattern)];
      if (end - begin == 1) { // as for most entries
        one.order = nextOrder++;
        continue;
      }
      auto [copy, isFirst] = copies.try_emplace(hashName(one.name), nextOrder);
      nextOrder += isFirst;
      one.order = copy->second;
    }
  }
}

PatternSet Placement::neededPatterns() const {
  PatternSet needed = {};
  // The first two nearly always have sections; of strings it is not known.
  for (Pattern kept : {Pattern::Rodata, Pattern::Text, Pattern::Strings})
    needed[static_cast<unsigned>(kept)] = uses(kept);
  for (const PlannedSection &one : planned)
    if (one.pattern)
      needed[static_cast<unsigned>(*one.pattern)] = true;
  return needed;
}

std::optional<uint32_t> Placement::numberOf(const char *name) const {
  if (!names.mayContain(hashOfAddress(name)))
    return std::nullopt;
  auto it = numbers.find(name);
  return it == numbers.end() ? std::nullopt : std::optional(it->second);
}

bool Placement::isCodeOfAllRuns(StringRef name) const {
  std::optional<uint32_t> number = numberOf(name.data());
  return number && planned[*number].pattern == Pattern::Text && isOfAllRuns(planned[*number]);
}

} // namespace frontload
