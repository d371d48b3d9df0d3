//===- code_padding.h - what aligned code costs ----------------------------===//
//
// Large folios are pages of more than one page's size, in the page cache and in page tables. One
// can hold code alone if the code begins at a multiple of its size, so something has to fill the
// file up to there. Who asks for that should know how much it is.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_CODE_PADDING_H
#define FRONTLOAD_LLDPLUGIN_PLAN_CODE_PADDING_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace frontload {

/// How many bytes of a linked file lie before the front's code and the code behind it, behind the
/// contents that precede them.
uint64_t codePadding(llvm::StringRef file);

} // namespace frontload

#endif
