//===- section_order.h - the order that gold is told -----------------------===//
//
// gold sorts the input sections of each output section by their places in one list, and puts
// sections that are not in the list before those that are. So the startup block is the end of
// .text, .data.rel.ro, .data and .bss.
//
// It does not sort sections of strings, but merges them into one piece at the beginning of .rodata.
// Therefore constants get an output section of their own, .rodata.startup. gold puts it into a
// segment of its own after all other code and constants, next to the data, and the strings in it
// are those of the objects that startup needs. On cc1 that takes the cold start from 153 major
// faults to 122. The same for code changes nothing, and for both together costs more (143).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_GOLD_SECTION_ORDER_H
#define FRONTLOAD_LLDPLUGIN_GOLD_SECTION_ORDER_H

#include "plan/front_link.h"
#include "llvm/ADT/ArrayRef.h"
#include <plugin-api.h>
#include <vector>

namespace frontload {

constexpr const char *constantsSection = ".rodata.startup";

struct SectionOrder {
  std::vector<ld_plugin_section> all;
  /// The sections that belong into an output section of their own, in any order.
  std::vector<ld_plugin_section> constants;
};

/// The sections that `link` has found, in the order in which gold is to place them. `handles` are
/// gold's, of the objects.
SectionOrder sectionOrder(const FrontLink &link, llvm::ArrayRef<const void *> handles);

} // namespace frontload

#endif
