//===- lld_hooks.h - adds the plugin interface that lld lacks -------------===//
//
// lld is linked into ld.frontload as a library. Some of its functions are wrapped with the linker
// option --wrap, and lead to the FrontLink that is installed here. Without one, they do nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_LLD_HOOKS_H
#define FRONTLOAD_LLDPLUGIN_LLD_LLD_HOOKS_H

#include "other_lld/link_plan.h"
#include <functional>

namespace frontload {

/// Makes the file at `path`, if it is one, an input like others, so that --dependency-file and
/// --reproduce list it.
void listInput(const std::string &path);

/// Lets a link take part in the next run of lld's driver, which fails if less than `minMatch`
/// percent of the profile's names are found. `link` is called once lld has opened its inputs; the
/// FrontLink must outlive the run. With `instead`, the run ends when the front is planned:
/// `instead` is called, and the process exits with its result.
void installHooks(std::function<FrontLink &()> link, double minMatch,
                  std::function<int(const LinkInputs &)> instead = nullptr);

/// Says how much of the profile the link has found. Returns the exit code: less than `minMatch`
/// percent fails.
int tellMatches(const FrontLink &link, double minMatch);

} // namespace frontload

#endif
