//===- lld_hooks.h - adds the plugin interface that lld lacks -------------===//
//
// lld is linked into ld.frontload as a library. Some of its functions are wrapped with the linker
// option --wrap, and hand their calls on to the link that runs. Without one, they do nothing else
// than lld's.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_LLD_HOOKS_H
#define FRONTLOAD_LLDPLUGIN_LLD_LLD_HOOKS_H

#include "lld/link_run.h"

namespace frontload {

/// Lets `run` take part in the next run of lld's driver, which it must outlive.
void installHooks(LinkRun &run);

} // namespace frontload

#endif
