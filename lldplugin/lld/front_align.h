//===- front_align.h - --front-align ---------------------------------------===//
//
// Where the page cache has large folios, code that begins at a multiple of their size, in the file
// as in memory, can be read and mapped by a few of them. The front's script carries the option out.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_FRONT_ALIGN_H
#define FRONTLOAD_LLDPLUGIN_LLD_FRONT_ALIGN_H

#include "lld/link_options.h"

namespace frontload {

/// Parses the value of the option, in bytes.
std::optional<uint64_t> parseFrontAlign(llvm::StringRef text);

/// What is wrong with the value, or with other options for it.
std::optional<Refusal> checkFrontAlign(const LinkOptions &options);

/// The argument that lld needs for it, besides the front's script; empty if none.
std::string frontAlignArgument(const LinkOptions &options);

} // namespace frontload

#endif
