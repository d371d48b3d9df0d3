//===- tiers.cpp - the order of a profile's names --------------------------===//

#include "profile/tiers.h"
#include "llvm/ADT/STLExtras.h"
#include <iterator>

using namespace llvm;

namespace frontload {

void sortByTier(StartupProfile &profile) {
  auto tier = [&](const ProfileEntry &entry) {
    double share = profile.share(entry);
    return share >= shareOfAllRuns ? 0 : share >= 0.5 ? 1 : 2;
  };
  std::vector<ProfileEntry> sorted;
  sorted.reserve(profile.entries.size());
  for (int wanted : {0, 1, 2})
    llvm::copy_if(profile.entries, std::back_inserter(sorted),
                  [&](const ProfileEntry &entry) { return tier(entry) == wanted; });
  profile.entries = std::move(sorted);
}

uint32_t sizeOfFirstTier(const StartupProfile &profile) {
  return llvm::count_if(profile.entries, [&](const ProfileEntry &entry) {
    return profile.share(entry) >= shareOfAllRuns;
  });
}

} // namespace frontload
