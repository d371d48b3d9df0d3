//===- output_check.h - what must hold in a file with a front --------------===//
//
// Moving sections about can break a program in ways that no test of its author's would find at
// once. These are the ways that are known; each linked file is checked for them before it is let
// out.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OUTPUT_CHECK_H
#define FRONTLOAD_LLDPLUGIN_OUTPUT_CHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// What a linked file's headers say about its front.
struct Front {
  /// The file offset of the first byte that is not in the front.
  uint64_t bytes = 0;
};

/// Checks the ELF file in `bytes`, with `checkEnd` also where `_end` is. Fails with what is
/// wrong:
/// * .eh_frame_hdr is not sorted by address: unwinding would miss functions and end in terminate.
/// * `_end` is not the end of .bss.
/// * a section of the front lies behind .text or .rodata in the file.
/// * a loadable segment's address and offset do not agree modulo its alignment.
llvm::Expected<Front> checkOutput(llvm::StringRef bytes, bool checkEnd);

} // namespace frontload

#endif
