// The order of a profile's names by how many runs touch them.
//
// A profile of many runs and scenarios has names that every run touched, names that most did, and
// names that few did. These tiers lie one after the other, so that the names that every run needs
// are densest, and the names that a start outside of the training likely needs come first. Of the
// other names, those that the same runs touched lie together: each run then reads few places whole
// instead of many in part.
#pragma once

#include "profile/startup_profile.h"

namespace frontload {

/// Sorts the entries by tier (touched by all runs, by at least half of them, by a quarter, by
/// fewer). Within a tier, entries of a section class that the same kept runs touch come together,
/// and first-touch order decides where the kept runs do not. Of a hundred runs that touch the most
/// common name, one may lack a name of the first tier. Runs without a name in common with the
/// others, such as one that ended at once, do not count.
void sortByTier(StartupProfile &profile);

/// The number of entries in the first tier.
uint32_t sizeOfFirstTier(const StartupProfile &profile);

} // namespace frontload
