//===- tiers.h - which names of a profile are worth a place in the front ---===//
//
// A profile of many runs and scenarios has names that every run touched, names that most did, and
// names that few did: three tiers, which lie one behind the other, so that what every run needs is
// densest. And it may have large tables of which a few bytes were touched. What costs more to read
// along than to fault in now and then does not belong to the front (io_model.h).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_TIERS_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_TIERS_H

#include "profile/startup_profile.h"

namespace frontload {

/// Sorts the entries by tier (touched by all runs, by at least half of them, by fewer), and leaves
/// those of a tier in first-touch order.
void sortByTier(StartupProfile &profile);

/// Whether a section of `size` bytes should be read with the front although only this `share` of
/// the runs touches it. `windows` is how many windows of it a run touches, on the average of all
/// runs.
bool belongsToFront(uint64_t size, double windows, double share);

} // namespace frontload

#endif
