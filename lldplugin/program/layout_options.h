//===- layout_options.h - options that decide the layout themselves --------===//
//
// A front is an order and a place of sections. Linker options that ask for another one cannot be
// combined with it: ld.frontload refuses them, and frontload-cc leaves such links alone. lld's own
// orders can, since they do not say where a particular section goes.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_LAYOUT_OPTIONS_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_LAYOUT_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

struct LayoutOption {
  std::string option;
  std::string reason; ///< why it cannot be had with a front
};

/// Whether `args[i]` is one, of lld's or of GNU ld's.
std::optional<LayoutOption> layoutOption(llvm::ArrayRef<const char *> args, size_t i);

/// Whether `arg` asks lld for an order that it makes itself, of a call graph or by balanced
/// partitioning. The built-in lld goes on with that for what is not in the front.
bool asksForOwnOrder(llvm::StringRef arg);

} // namespace frontload

#endif
