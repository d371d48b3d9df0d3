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

/// Checks the ELF file in `bytes`, with `checkEdges` also that `_end` lies in .bss. Fails with what
/// is wrong:
/// * .eh_frame_hdr is not sorted by address: unwinding would miss functions and end in terminate.
/// * `_end` and `end` are outside of .bss.
/// * a section of the front lies behind a cold one in the file.
llvm::Expected<Front> checkOutput(llvm::StringRef bytes, bool checkEdges);

} // namespace frontload

#endif
