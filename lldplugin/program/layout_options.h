//===- layout_options.h - options that decide the layout themselves --------===//
//
// A front is an order and a place of sections. Linker options that ask for another order or place
// cannot be combined with a front: ld.frontload refuses them, and frontload-cc leaves such links
// alone. lld's own orders can, since they do not say where a particular section goes.
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

/// The option `args[i]`, if it is such an option of lld or GNU ld.
std::optional<LayoutOption> layoutOption(llvm::ArrayRef<const char *> args, size_t i);

/// Whether `arg` asks lld for an order that it makes itself, of a call graph or by balanced
/// partitioning. The built-in lld keeps that order outside of the front.
bool asksForOwnOrder(llvm::StringRef arg);

} // namespace frontload

#endif
