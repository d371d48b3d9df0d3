// lld's own orders, for what is outside of the front.
#include "lld/rest_order.h"
#include "lld/section_list.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>
#include <vector>

using namespace llvm;

namespace frontload {

/// The place of a function without a front, with -z keep-text-section-prefix: the compiler names
/// its section by how often it runs.
static unsigned heatOf(StringRef name) {
  return name.starts_with(".text.hot.") ? 0 : name.starts_with(".text.unlikely.") ? 2 : 1;
}

SectionOrder restOf(const SectionOrder &order, const FrontLink &link, bool ordersFront) {
  SectionOrder rest;
  std::vector<std::tuple<unsigned, int, const lld::elf::InputSectionBase *>> front;
  const Placement &placement = link.placement();
  for (auto [section, position] : order) {
    StringRef name = nameOf(section);
    std::optional<uint32_t> number = placement.numberOf(name.data());
    const PlannedSection *planned = number ? &placement.sections()[*number] : nullptr;
    if (!(planned ? planned->pattern : placement.patternOfOther(name)))
      rest.try_emplace(section, position);
    // What every run enters lies before the rest of the front's code, and is read in any order.
    else if (ordersFront && planned && planned->pattern == Pattern::Text &&
             placement.isOfAllRuns(*planned))
      front.emplace_back(heatOf(name), position, section);
  }
  llvm::sort(front);
  for (auto [number, place] : enumerate(front))
    rest.try_emplace(std::get<2>(place), int(number));
  return rest;
}

} // namespace frontload
