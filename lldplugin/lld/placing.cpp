//===- placing.cpp - lld gives the sections of the front their places ------===//

#include "lld/placing.h"
#include "lld/hook_calls.h"
#include "lld/lld_symbols.h"
#include "llvm/ADT/STLExtras.h"

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

Placing::Current Placing::recognize(const lld::StringMatcher *matcher) {
  Current result{matcher, ownPattern(matcher)};
  if (result.ours)
    calls::match.note();
  if (result.ours && std::exchange(isAwaiting, true)) {
    result.awaited = &awaited[static_cast<unsigned>(*result.ours)];
    shortenList();
  }
  return result;
}

/// To be called when lld has got all sections of a pattern, and has sorted them.
void Placing::checkSorted() const {
  if (orders.size() > 1)
    calls::getPriority.require();
}

/// To be called when the first of our patterns has been asked for all sections.
void Placing::shortenList() {
  if (auto call = std::exchange(onMetAll, nullptr))
    call();
  // The one name in the script that lld itself matches: plan/front_script.cpp.
  sections.shorten(told, ".bss.rel.ro");
  told.clear();
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
  told.push_back(name.data());
  if (pattern == current.ours)
    place(name, number);
  else
    awaited[static_cast<unsigned>(*pattern)].sections.emplace_back(name.data(), number);
  return pattern == current.ours;
}

std::optional<bool> Placing::matches(const lld::StringMatcher *matcher, StringRef name) {
  // Nearly all calls end here: one for each section and each of our patterns but the first.
  if (current.matcher == matcher && current.awaited && !current.awaited->isNext(name.data()))
    return false;
  if (current.matcher != matcher) {
    checkSorted();
    current = recognize(matcher);
    orders.clear();
    lastOrders = {};
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
  for (unsigned i : {0, 1})
    if (lastOrders[i].first && lastOrders[i].first == name.data()) {
      olderOrder = 1 - i;
      return int(lastOrders[i].second);
    }
  auto order = orders.find(name.data());
  if (order == orders.end())
    return std::nullopt;
  calls::getPriority.note();
  if (!told.empty() && !current.awaited)
    shortenList();
  lastOrders[olderOrder] = *order;
  olderOrder = 1 - olderOrder;
  return int(order->second);
}

bool Placing::hasAskedForAll() const {
  return llvm::all_of(awaited, [](const Awaited &a) { return a.next == a.sections.size(); });
}

void Placing::end() {
  checkSorted();
  sections.restore();
  front = nullptr;
  current = Current(); // its matcher may be gone, and another one in its place
}

} // namespace frontload
