//===- tiers.cpp - the order of a profile's names --------------------------===//

#include "profile/tiers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/BalancedPartitioning.h"
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

/// Brings those entries together that the same kept runs touch: LLVM's balanced partitioning, which
/// halves them again and again so that each run touches much of one half and little of the other
/// (Dhulipala et al., "Compressing graphs and indexes with recursive graph bisection", KDD 2016).
/// What it cannot tell apart keeps its order.
static void bringTogether(MutableArrayRef<ProfileEntry> entries) {
  if (all_of(entries, [&](const ProfileEntry &e) { return e.keptBy == entries.front().keptBy; }))
    return;
  std::vector<BPFunctionNode> nodes;
  nodes.reserve(entries.size());
  for (auto [number, entry] : enumerate(entries)) {
    SmallVector<BPFunctionNode::UtilityNodeT, 0> runs;
    for (uint64_t kept = entry.keptBy; kept; kept &= kept - 1)
      runs.push_back(llvm::countr_zero(kept));
    nodes.emplace_back(number, runs);
  }
  BalancedPartitioning(BalancedPartitioningConfig()).run(nodes);
  std::vector<ProfileEntry> sorted;
  sorted.reserve(entries.size());
  for (const BPFunctionNode &node : nodes)
    sorted.push_back(std::move(entries[node.Id]));
  llvm::move(sorted, entries.begin());
}

void sortByTier(StartupProfile &profile) {
  const double all = shareOfAllRuns(profile);
  auto tier = [&](const ProfileEntry &entry) {
    double share = profile.share(entry);
    return share >= all ? 0 : share >= 0.5 ? 1 : 2;
  };
  std::vector<ProfileEntry> sorted;
  sorted.reserve(profile.entries.size());
  for (int wanted : {0, 1, 2}) {
    const size_t begin = sorted.size();
    llvm::copy_if(profile.entries, std::back_inserter(sorted),
                  [&](const ProfileEntry &entry) { return tier(entry) == wanted; });
    if (wanted != 0)
      bringTogether(MutableArrayRef(sorted).drop_front(begin));
  }
  profile.entries = std::move(sorted);
}

uint32_t sizeOfFirstTier(const StartupProfile &profile) {
  const double all = shareOfAllRuns(profile);
  return llvm::count_if(profile.entries,
                        [&](const ProfileEntry &entry) { return profile.share(entry) >= all; });
}

} // namespace frontload
