//===- order_hooks.h - hooks in lld's own orders of sections ---------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_ORDER_HOOKS_H
#define FRONTLOAD_LLDPLUGIN_LLD_ORDER_HOOKS_H

#include "plan/front_link.h"

namespace frontload {

/// Keeps lld's own orders from the front of `link`, which must outlive the next run of lld's
/// driver.
void installOrderHooks(const FrontLink &link);

} // namespace frontload

#endif
