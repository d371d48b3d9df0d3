//===- tiers.h - the order of a profile's names by how many runs touch them ===//
//
// A profile of many runs and scenarios has names that every run touched, names that most did, and
// names that few did. These are three tiers. They lie one after the other, so that what every run
// needs is densest.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_TIERS_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_TIERS_H

#include "profile/startup_profile.h"

namespace frontload {

/// Sorts the entries by tier (touched by all runs, by at least half of them, by fewer), and leaves
/// those of a tier in first-touch order. Of a hundred runs that touch the most common name, one may
/// lack a name of the first tier. What has no name in common with the others, such as a run that
/// ended before it had begun, does not count.
void sortByTier(StartupProfile &profile);

/// How many entries of a profile that is sorted so are of the first tier.
uint32_t sizeOfFirstTier(const StartupProfile &profile);

} // namespace frontload

#endif
