//===- output_check.h - what must hold in a file with a front --------------===//
//
// Moving sections can break a program in ways that its author's tests would not find at once. These
// are the known ways. Each linked file is checked for them before it takes its place.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_OUTPUT_CHECK_H
#define FRONTLOAD_LLDPLUGIN_PLAN_OUTPUT_CHECK_H

#include "startup_set/hot_strings.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace frontload {

/// Where the front of a linked file ends.
struct Front {
  /// The file offset of the first byte that is not in the front.
  uint64_t bytes = 0;
  /// The address of that byte, or one behind the last byte of the front.
  uint64_t endAddress = 0;
  /// How many of its bytes are merged strings.
  uint64_t strings = 0;
};

/// Checks the ELF file in `bytes`, with `checkEnd` also where `_end` is, and finds the end of its
/// front, to which those of `strings` belong that begin the merged ones: they count as placed.
/// Fails with what is wrong:
/// * .eh_frame_hdr is not sorted by address: unwinding would miss functions and end in terminate.
/// * `_end` is not the end of .bss.
/// * a section of the front lies behind one of the rest in the file.
/// * a loadable segment's address and offset do not agree modulo its alignment.
llvm::Expected<Front> checkOutput(llvm::StringRef bytes, bool checkEnd, HotStrings &strings);

} // namespace frontload

#endif
