//===- section_order.cpp - the order that gold is told ---------------------===//

#include "gold/section_order.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace llvm;

namespace frontload {

SectionOrder sectionOrder(const FrontLink &link, ArrayRef<const void *> handles) {
  struct Place {
    uint32_t object;
    const StartupSection *section;
    auto key() const {
      // Sections that are likely to be used next precede the block: nothing can follow it.
      return std::tuple(section->region == Region::Front, section->rank, object, section->index);
    }
  };
  std::vector<Place> places;
  for (auto [object, sections] : enumerate(link.sections()))
    for (const StartupSection &section : sections)
      places.push_back({uint32_t(object), &section});
  llvm::sort(places, [](const Place &a, const Place &b) { return a.key() < b.key(); });
  SectionOrder order;
  order.all.reserve(places.size());
  for (const Place &place : places) {
    ld_plugin_section section{handles[place.object], place.section->index};
    order.all.push_back(section);
    if (place.section->sectionClass == SectionClass::Rodata)
      order.constants.push_back(section);
  }
  return order;
}

} // namespace frontload
