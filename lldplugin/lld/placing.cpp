// lld gives the sections of the front their places.
#include "lld/placing.h"
#include "lld/hook_calls.h"
#include "lld/lld_symbols.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/TimeProfiler.h"
#include <tuple>

using namespace llvm;

namespace frontload {

/// Which of our patterns `matcher` is. One that fits everything is not ours.
static std::optional<Pattern> ownPattern(const lld::StringMatcher *matcher) {
  std::optional<Pattern> result;
  for (unsigned i = 0; i < numPatterns; ++i) {
    auto pattern = static_cast<Pattern>(i);
    if (!realMatch(matcher, textOf(pattern)))
      continue;
    if (result)
      return std::nullopt;
    result = pattern;
  }
  return result;
}

void Placing::pick(const Placement &placement, ArrayRef<const void *> from) {
  for (const void *section : from) {
    StringRef name = nameOf(section);
    if (std::optional<uint32_t> number = placement.numberOf(name.data())) {
      const PlannedSection &planned = placement.sections()[*number];
      picked.push_back({section, name, planned.pattern, number, planned.order});
    } else if (headOfSection(section).flags & ELF::SHF_STRINGS) { // else its name stays unread
      if (std::optional<Pattern> pattern = placement.patternOfOther(name))
        picked.push_back({section, name, pattern, std::nullopt, 0});
    } else if (name == ".bss.rel.ro") { // that lld itself matches: plan/front_script.cpp
      picked.push_back({section, name, std::nullopt, std::nullopt, 0});
    }
  }
  llvm::stable_sort(picked, [](const Picked &a, const Picked &b) {
    return std::tie(a.pattern, a.order) < std::tie(b.pattern, b.order);
  });
}

ArrayRef<const char *> Placing::gather() {
  if (gathered.empty() && sections.isKnown())
    for (const void *section : sections.sections()) {
      gathered.push_back(section);
      names.push_back(nameOf(section).data());
    }
  return names;
}

void Placing::beginPicking(const FrontLink &link, std::function<void()> before) {
  picking = std::async(std::launch::async, [&link, before, this] {
    before();
    pick(link.placement(), gathered);
  });
}

/// Gives lld a list of the picked sections alone, sorted, and notes which of them are in the link.
void Placing::shortenList(const Placement &placement) {
  if (!picking.valid())
    return;
  TimeTraceScope scope("Shorten the list of sections");
  picking.get();
  ArrayRef<const void *> all = sections.sections(), added = all.drop_front(gathered.size());
  if (picked.empty() || all.take_front(gathered.size()) != ArrayRef(gathered))
    return;
  pick(placement, added); // lld's own
  SectionList::Sections list;
  for (const Picked &each : picked) {
    if (!headOfSection(each.section).isLive())
      continue;
    list.push_back(each.section);
    ++numShort;
    if (each.number)
      front->place(*each.number);
    if (each.pattern)
      awaited[static_cast<unsigned>(*each.pattern)].sections.push_back(
          {each.name.data(), std::nullopt});
  }
  isAwaiting = true;
  sections.replace(std::move(list));
}

void Placing::begin(FrontLink &link) {
  front = &link.account();
  shortenList(link.placement());
  link.placeTail(); // if no other thread has done it
}

std::vector<const char *> Placing::liveNames() const {
  std::vector<const char *> live;
  for (const void *section : sections.sections())
    if (SectionHead head = headOfSection(section); head.isLive())
      live.push_back(head.name.data());
  return live;
}

Placing::Current Placing::recognize(const lld::StringMatcher *matcher) {
  Current result{matcher, ownPattern(matcher)};
  if (result.ours)
    calls::match.note();
  if (result.ours && std::exchange(isAwaiting, true))
    result.awaited = &awaited[static_cast<unsigned>(*result.ours)];
  return result;
}

/// To be called when lld has got all sections of a pattern, and has sorted them.
void Placing::checkPattern() {
  if (orders.size() > 1)
    calls::getPriority.require();
  // For the first of our patterns lld asks about all sections that are in the link.
  if (current.ours && numShort && !std::exchange(hasChecked, true))
    knowsLive = numAsked == numShort;
}

/// Gives a section of the current pattern its place in it.
void Placing::place(StringRef name, std::optional<uint32_t> number) {
  if (number)
    orders.try_emplace(name.data(), front->place(*number));
}

/// Whether the section belongs to the first of our patterns. Notes those of other patterns.
bool Placing::matchesFirst(StringRef name) {
  auto [pattern, number] = front->meet(name);
  if (!pattern)
    return false;
  if (pattern == current.ours)
    place(name, number);
  else
    awaited[static_cast<unsigned>(*pattern)].sections.emplace_back(name.data(), number);
  return pattern == current.ours;
}

std::optional<bool> Placing::matches(const lld::StringMatcher *matcher, StringRef name) {
  // Nearly all calls end here: one for each section and each pattern whose sections are known.
  if (current.matcher == matcher) {
    ++numAsked;
    if (current.awaited && !current.awaited->isNext(name.data()))
      return false;
  } else {
    checkPattern();
    current = recognize(matcher);
    orders.clear();
    numAsked = 1;
  }
  if (!current.ours)
    return std::nullopt;
  Awaited *ours = current.awaited;
  if (!ours)
    return matchesFirst(name);
  if (!ours->isNext(name.data()))
    return false;
  place(name, ours->sections[ours->next++].second);
  return true;
}

std::optional<int> Placing::order(StringRef name) {
  if (current.ours && isShort()) { // the list is sorted
    calls::getPriority.note();
    return 0;
  }
  auto order = orders.find(name.data());
  if (order == orders.end())
    return std::nullopt;
  calls::getPriority.note();
  return int(order->second);
}

bool Placing::hasAskedForAll() const {
  return knowsLive &&
         llvm::all_of(awaited, [](const Awaited &a) { return a.next == a.sections.size(); });
}

void Placing::end() {
  checkPattern();
  sections.restore();
  front = nullptr;
  current = Current(); // its matcher may be gone, and another one in its place
}

} // namespace frontload
