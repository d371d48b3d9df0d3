//===- readable_inputs.h - inputs that two linkers can read ----------------===//
//
// With --lld the built-in lld reads all inputs, and another one reads them again.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OTHER_LLD_READABLE_INPUTS_H
#define FRONTLOAD_LLDPLUGIN_OTHER_LLD_READABLE_INPUTS_H

#include "other_lld/link_plan.h"

namespace frontload {

/// Whether both linkers can read all inputs; reports why not.
bool areAllThere(const LinkInputs &inputs);

} // namespace frontload

#endif
