//===- folding_hook.h - tells which sections lld folds ---------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_FOLDING_HOOK_H
#define FRONTLOAD_LLDPLUGIN_LLD_FOLDING_HOOK_H

#include "plan/front_link.h"

namespace frontload {

/// Tells `link`, which must outlive the next run of lld's driver, what that run folds.
void installFoldingHook(FrontLink &link);

} // namespace frontload

#endif
