//===- reproduce.h - the front in the tar of --reproduce -------------------===//
//
// lld's --reproduce packs all that a link reads into a tar, with a response.txt that links it again
// from there. lld knows nothing of the options that ld.frontload takes out of its command line, and
// shows those that it puts in. What is written here makes a replay by ld.frontload the same link:
//
//     tar xf app.tar && cd app && ld.frontload @response.txt
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_REPRODUCE_H
#define FRONTLOAD_LLDPLUGIN_LLD_REPRODUCE_H

#include "lld/link_options.h"

namespace frontload {

/// To be called before the link that `options` describe, which lld is to reproduce. Appends to
/// lld's `args` a mark: what is behind it the replay adds by itself.
std::optional<Refusal> prepareReplay(const LinkOptions &options, std::vector<const char *> &args);

/// Whether a tar that was prepared for has what belongs there; to be called when lld has read the
/// command line.
bool isReplayComplete();

} // namespace frontload

#endif
