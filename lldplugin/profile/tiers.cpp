//===- tiers.cpp - the order of a profile's names --------------------------===//

#include "profile/tiers.h"
#include "llvm/ADT/STLExtras.h"
#include <iterator>

using namespace llvm;

namespace frontload {

/// The share of runs that touches a name of the first tier.
static double shareOfAllRuns(const StartupProfile &profile) {
  double most = 0;
  for (const ProfileEntry &entry : profile.entries)
    most = std::max(most, profile.share(entry));
  return 0.99 * most;
}

void sortByTier(StartupProfile &profile) {
  const double all = shareOfAllRuns(profile);
  auto tier = [&](const ProfileEntry &entry) {
    double share = profile.share(entry);
    return share >= all ? 0 : share >= 0.5 ? 1 : 2;
  };
  std::vector<ProfileEntry> sorted;
  sorted.reserve(profile.entries.size());
  for (int wanted : {0, 1, 2})
    llvm::copy_if(profile.entries, std::back_inserter(sorted),
                  [&](const ProfileEntry &entry) { return tier(entry) == wanted; });
  profile.entries = std::move(sorted);
}

uint32_t sizeOfFirstTier(const StartupProfile &profile) {
  const double all = shareOfAllRuns(profile);
  return llvm::count_if(profile.entries,
                        [&](const ProfileEntry &entry) { return profile.share(entry) >= all; });
}

} // namespace frontload
