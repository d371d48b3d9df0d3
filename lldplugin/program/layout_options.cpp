//===- layout_options.cpp - options that decide the layout themselves ------===//

#include "program/layout_options.h"
#include "program/command_line.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace frontload {

/// Options of lld that ask for an order that is in a file, or random, without their dashes.
static constexpr StringLiteral orderingOptions[] = {"symbol-ordering-file", "shuffle-sections"};
/// Options that ask for an order that lld itself makes.
static constexpr StringLiteral ownOrders[] = {"call-graph-ordering-file", "bp-startup-sort",
                                              "bp-compression-sort"};

std::optional<LayoutOption> layoutOption(ArrayRef<const char *> args, size_t i) {
  StringRef arg = args[i];
  StringRef name = arg.ltrim('-').take_until([](char c) { return c == '='; });
  std::string value;
  if (takeLetter(args, i, "-z", value)) {
    if (value == "nosectionheader")
      return LayoutOption{"-z nosectionheader", "the section headers tell where the front is"};
  } else if (arg == "--unique" || arg == "-unique") {
    return LayoutOption{arg.str(), "it puts every section into one of its own"};
  } else if (arg == "--enable-non-contiguous-regions") {
    return LayoutOption{arg.str(), "it moves sections to where a memory region has room for them"};
  } else if (arg == "-N" || arg == "--omagic") {
    return LayoutOption{arg.str(), "it puts everything into one segment"};
  } else if (arg.starts_with("-") &&
             is_contained({"Tbss", "Tdata", "Ttext", "section-start"}, name)) {
    return LayoutOption{arg.str(), "it decides where sections lie in memory"};
  } else if (arg.starts_with("-") && is_contained(orderingOptions, name)) {
    return LayoutOption{arg.str(), "both decide the order of sections"};
  }
  return std::nullopt;
}

bool asksForOwnOrder(StringRef arg) {
  // With sort=none lld makes no order.
  return arg.starts_with("-") && !arg.ends_with("sort=none") &&
         is_contained(ownOrders, arg.ltrim('-').take_until([](char c) { return c == '='; }));
}

} // namespace frontload
