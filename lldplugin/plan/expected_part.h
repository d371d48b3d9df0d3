//===- expected_part.h - where in the output a left-out part should be -----===//
//
// The sections that are left out of the front lead .rodata, one behind the other, so the plan can
// calculate where each of them is. The linker may merge constants or fold equal sections, and make
// that wrong, so the output is checked for the section.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "startup_set/search.h"

namespace frontload {

struct ExpectedPart {
  LeftOutPart part;
  uint64_t offset; ///< of its section in .rodata
};

} // namespace frontload
