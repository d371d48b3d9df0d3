//===- code_padding.h - what aligned code costs ----------------------------===//
//
// Large folios are pages of more than one page's size, in the page cache and in page tables. A
// folio can hold code alone if the code begins at a multiple of its size, so padding fills the file
// up to there. Users who ask for that should know how much it is.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_CODE_PADDING_H
#define FRONTLOAD_LLDPLUGIN_PLAN_CODE_PADDING_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace frontload {

/// The bytes of padding before the front's code, and before the code behind the front.
uint64_t codePadding(llvm::StringRef file);

} // namespace frontload

#endif
