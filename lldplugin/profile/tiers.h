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
/// those of a tier in first-touch order.
void sortByTier(StartupProfile &profile);

} // namespace frontload

#endif
