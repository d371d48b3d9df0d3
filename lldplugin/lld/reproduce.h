//===- reproduce.h - the front in the tar of --reproduce -------------------===//
//
// lld's --reproduce packs all that a link reads into a tar, with a response.txt that links it again
// from there. lld does not know the options that ld.frontload takes out of the command line, and
// shows those that it adds. This makes a replay by ld.frontload the same link:
//
//     tar xf app.tar && cd app && ld.frontload @response.txt
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_REPRODUCE_H
#define FRONTLOAD_LLDPLUGIN_LLD_REPRODUCE_H

#include "lld/link_options.h"

namespace frontload {

/// To be called before a link with --reproduce. Appends a mark to lld's `args`: the replay adds the
/// arguments behind the mark by itself.
std::optional<Refusal> prepareReplay(const LinkOptions &options, std::vector<const char *> &args);

/// Whether the tar, if one was prepared, has the options of the front. To be called when lld has
/// read the command line.
bool isReplayComplete();

} // namespace frontload

#endif
