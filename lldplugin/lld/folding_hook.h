//===- folding_hook.h - tells which sections lld folds ---------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_FOLDING_HOOK_H
#define FRONTLOAD_LLDPLUGIN_LLD_FOLDING_HOOK_H

#include "plan/front_link.h"

namespace frontload {

/// Tells `link` which sections the next run of lld's driver folds. `link` must outlive that run.
void installFoldingHook(FrontLink &link);

} // namespace frontload

#endif
