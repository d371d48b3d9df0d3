//===- tiers.h - the order of a profile's names by how many runs touch them ===//
//
// A profile of many runs and scenarios has names that every run touched, names that most did, and
// names that few did. These are three tiers. They lie one after the other, so that what every run
// needs is densest. Of names that not all runs touched, those that the same runs touched lie
// together: each run then reads few places whole instead of many in part.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_TIERS_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_TIERS_H

#include "profile/startup_profile.h"

namespace frontload {

/// Sorts the entries by tier (touched by all runs, by at least half of them, by fewer). Within a
/// tier, those of a section class that the same kept runs touch come together, and first-touch
/// order decides where the kept runs do not. Of a hundred runs that touch the most common name, one
/// may lack a name of the first tier. What has no name in common with the others, such as a run
/// that ended before it had begun, does not count.
void sortByTier(StartupProfile &profile);

/// How many entries of a profile that is sorted so are of the first tier.
uint32_t sizeOfFirstTier(const StartupProfile &profile);

} // namespace frontload

#endif
