// The order of a profile's names.
#include "profile/tiers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/BalancedPartitioning.h"
#include <iterator>
#include <unordered_map>

using namespace llvm;

namespace frontload {

/// The smallest share of runs that touch a name of the first tier.
static double shareOfAllRuns(const StartupProfile &profile) {
  double most = 0;
  for (const ProfileEntry &entry : profile.entries)
    most = std::max(most, profile.share(entry));
  return 0.99 * most;
}

/// Partitioning takes 0.05 s for a thousand names, 10 s for a hundred thousand.
static constexpr size_t maxNodes = 1024;

/// Brings entries together that the same kept runs touch, by LLVM's balanced partitioning: it
/// halves them again and again so that each run touches much of one half and little of the other
/// (Dhulipala et al., "Compressing graphs and indexes with recursive graph bisection", KDD 2016).
/// Entries that it cannot tell apart keep their order. Of more than `maxNodes`, entries of the very
/// same runs are one node, so a million names take no longer than the number of different sets of
/// runs.
static void bringTogether(MutableArrayRef<ProfileEntry> entries) {
  std::unordered_map<uint64_t, size_t> groupOf; // DenseMap has no room for all 64 runs
  std::vector<SmallVector<size_t, 0>> groups;
  std::vector<BPFunctionNode> nodes;
  for (auto [number, entry] : enumerate(entries)) {
    auto [group, isNew] = groupOf.try_emplace(entry.keptBy, groups.size());
    if (isNew || entries.size() <= maxNodes) {
      group->second = groups.size();
      SmallVector<BPFunctionNode::UtilityNodeT, 0> runs;
      for (uint64_t kept = entry.keptBy; kept; kept &= kept - 1)
        runs.push_back(llvm::countr_zero(kept));
      nodes.emplace_back(groups.size(), runs);
      groups.emplace_back();
    }
    groups[group->second].push_back(number);
  }
  if (groupOf.size() < 2)
    return;
  BalancedPartitioning(BalancedPartitioningConfig()).run(nodes);
  std::vector<ProfileEntry> sorted;
  sorted.reserve(entries.size());
  for (const BPFunctionNode &node : nodes)
    for (size_t number : groups[node.Id])
      sorted.push_back(std::move(entries[number]));
  llvm::move(sorted, entries.begin());
}

void sortByTier(StartupProfile &profile) {
  const double all = shareOfAllRuns(profile);
  auto tier = [&](const ProfileEntry &entry) {
    double share = profile.share(entry);
    return share >= all ? 0 : share >= 0.5 ? 1 : share >= 0.25 ? 2 : 3;
  };
  std::vector<ProfileEntry> sorted;
  sorted.reserve(profile.entries.size());
  for (int wanted : {0, 1, 2, 3}) {
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
