// Where each section of a front goes.
#include "plan/placement.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <compare>
#include <tuple>

using namespace llvm;

namespace frontload {

/// The pattern of a section; none of writable data behind the front, which has no order.
static std::optional<Pattern> patternOf(SectionClass c, Region region) {
  if (region == Region::Next)
    return c == SectionClass::Rodata ? std::optional(Pattern::NextRodata)
           : c == SectionClass::Text ? std::optional(Pattern::NextText)
                                     : std::nullopt;
  return static_cast<Pattern>(c); // the patterns begin with those of the classes
}

void Placement::addSection(uint32_t object, const StartupSection &section) {
  auto [number, isNew] = numbers.try_emplace(section.name, uint32_t(planned.size()));
  if (isNew)
    planned.push_back(
        {section.name, object, section.index, section.sectionClass, section.region, section.rank});
  PlannedSection &one = planned[number->second];
  std::tie(one.region, one.entry) =
      std::min(std::tuple(one.region, one.entry), std::tuple(section.region, section.rank));
  one.sum += {1, !section.named, section.size, (uint64_t(1) << section.alignment) - 1};
  names.add(hashOfAddress(section.name));
}

void Placement::add(std::vector<StartupSections> more, bool ordersRelro) {
  size_t before = planned.size(), numSections = before;
  for (const StartupSections &sections : more)
    numSections += sections.size();
  planned.reserve(numSections);
  numbers.reserve(numSections);
  for (StartupSections &sections : more) {
    for (const StartupSection &section : sections)
      addSection(uint32_t(found.size()), section);
    found.push_back(std::move(sections));
  }
  bool isNew = ordersRelro && !uses(Pattern::Relro);
  patterns[static_cast<unsigned>(Pattern::Relro)] |= ordersRelro;
  if (isNew || planned.size() != before)
    putInOrder();
}

void Placement::addTails(std::vector<StartupSections> tails) {
  for (auto [object, sections] : enumerate(tails)) {
    for (const StartupSection &section : sections)
      addSection(uint32_t(object), section);
    size_t middle = found[object].size();
    llvm::append_range(found[object], sections);
    std::inplace_merge(found[object].begin(), found[object].begin() + middle, found[object].end(),
                       [](const auto &a, const auto &b) { return a.index < b.index; });
  }
  putInOrder();
}

/// Gives the sections their order in their patterns. Sections of one entry (all next sections,
/// those that one function refers to) lie in the order of the objects on the command line.
void Placement::putInOrder() {
  struct Key {
    uint64_t entry; // with the region
    bool hasBytes;  // labels come before code (startup_set/code_labels.h)
    uint32_t number;
    auto operator<=>(const Key &) const = default;
  };
  std::vector<Key> sorted;
  sorted.reserve(planned.size());
  for (auto [number, one] : enumerate(planned))
    sorted.push_back({uint64_t(one.region) << 32 | one.entry, one.sum.bytes > 0, uint32_t(number)});
  llvm::sort(sorted);
  std::array<uint32_t, numPatterns> next = {};
  DenseMap<CachedHashStringRef, uint32_t> copies; // the order of the names of one entry
  for (ArrayRef<Key> rest = sorted; !rest.empty();) {
    copies.clear();
    auto ofEntry = rest.take_while([&](const Key &key) { return key.entry == rest[0].entry; });
    rest = rest.drop_front(ofEntry.size());
    for (const Key &key : ofEntry) {
      PlannedSection &one = planned[key.number];
      one.pattern = patternOf(one.sectionClass, one.region);
      if (!one.pattern || !uses(*one.pattern)) {
        one.pattern.reset();
        continue;
      }
      uint32_t &nextOrder = next[static_cast<unsigned>(*one.pattern)];
      if (ofEntry.size() == 1) { // as for most entries
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
  // The first two nearly always have sections; of strings and the tail it is not known.
  for (Pattern kept :
       {Pattern::Rodata, Pattern::Text, Pattern::Strings, Pattern::NextText, Pattern::NextRodata})
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

} // namespace frontload
