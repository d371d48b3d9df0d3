// What other starts are likely to touch.
//
// The probability spreads from section to section: if `u` is touched with probability p(u), and
// refers to n sections, it leads to each of them with probability follow * p(u) / n^damping. These
// are taken as independent.
//
// Measured on a 207 MB clang (bench/workloads/cc1), trained with a C hello world and started with
// C++, <iostream>, and the same at -O2: 196 and 520 faults with a prefetched tail of 8 MB, 258 and
// 588 if the direct callees are as many bytes in the order of the link. The numbers matter little:
// a damping of 0.2 to 0.7, `follow` up to 0.95, 3 to 16 steps, and 200 bytes added to each size
// stay within 5%. How much of a section's object is touched, as a factor, makes it worse.
#include "startup_set/likely_sections.h"
#include "profile/tiers.h"
#include "startup_set/front_worth.h"
#include "llvm/Support/CommandLine.h"
#include <cmath>

using namespace llvm;

namespace frontload {

/// The numbers of the model. bench/fit changes them by these options (-mllvm). On each of five
/// programs, numbers that fit the four others leave as many faults as these, or up to 2 more.
static cl::opt<double> follow("frontload-follow", cl::init(0.7), cl::Hidden,
                              cl::desc("the probability that a single reference is followed"));
static cl::opt<double> damping("frontload-damping", cl::init(0.25), cl::Hidden,
                               cl::desc("how much less likely each of many references is"));
static cl::opt<unsigned> steps("frontload-steps", cl::init(4), cl::Hidden,
                               cl::desc("how far references are followed from a profile"));

/// How far references are followed, and from sections that are at least so likely. With training,
/// more would save 2% of the faults, and take a tenth of the link.
struct Reach {
  unsigned steps;
  double probability;
};
static constexpr Reach untrained = {16, 0.001};

/// The most bytes of likely sections, and how many times larger than the startup set they may be.
/// What only some runs touched comes first, and leaves them less of the tail: a clang trained with
/// twelve kinds of start has 60 faults in other ones, and 84 with 8 MB in any case.
static constexpr uint64_t maxLikely = 8 << 20, maxTimesFront = 2;

/// Without training, at most one in this many bytes of the code. CPython, git, PostgreSQL and
/// wasm-tools then save 45 to 65% of the faults that training with the start itself saves, and read
/// no more than without a front (docs/heldout.json); with one in 4, git 12% and PostgreSQL 31%.
static constexpr uint64_t oneOfCode = 2;

/// The largest section in a tail, in bytes: what is left of a larger one costs more than faults.
static constexpr uint64_t maxLikelySize = 64 << 10;

namespace {
/// A section; or, if the linker does not tell which one it keeps, all its copies.
struct Node {
  uint32_t scan, section; ///< of the first copy
  bool isFront;           ///< already in the startup set
  double missed = 1;      ///< the probability that a start does not touch it
};

template <class ELFT> class LikelySections {
public:
  /// `c` is whether the startup set has all parts of functions that were split off as unlikely, and
  /// that a start touches.
  LikelySections(ObjectScans<ELFT> &s, bool c, const NamesByObject &linked);
  void spread(Reach reach, uint32_t firstTier);
  void place(uint32_t firstRank, bool isUntrained);

private:
  /// Where the references of an object lead to, each with a probability.
  struct Hits {
    SmallVector<std::pair<uint32_t, double>, 0> sections; ///< of the same object
    SmallVector<std::pair<uint64_t, double>, 0> names;    ///< hashes of names
    SmallVector<std::pair<uint32_t, uint32_t>, 0> found;  ///< numbers of names, and their sections
  };
  static constexpr uint32_t none = UINT32_MAX;
  struct Name {
    uint32_t node = none; ///< of its first definition
    double missed = 1;    ///< while it has none
  };

  void addFront(uint32_t firstTier);
  void follow(size_t i);
  void gather();
  void hit(uint32_t node, double probability) { nodes[node].missed *= 1 - probability; }
  uint32_t nodeOf(size_t scan, uint32_t section);
  std::optional<SectionClass> classOf(const Node &node) const;

  ObjectScans<ELFT> &scans;
  const bool knowsColdParts;
  std::vector<BitVector> isLinked; ///< by section
  /// The hash of each name that such a section defines, and the section.
  std::vector<SmallVector<std::pair<uint32_t, uint32_t>, 0>> definitions;
  uint64_t frontBytes = 0; ///< of the startup set
  uint64_t someBytes = 0;  ///< of these, what only some runs touch
  std::vector<Node> nodes;
  std::vector<DenseMap<uint32_t, uint32_t>> byScan; ///< nodes, by section
  std::vector<Name> names;
  DenseMap<uint64_t, uint32_t> byName;           ///< their numbers, by their hashes
  std::vector<std::vector<uint32_t>> nameHashes; ///< of each object's symbols; 0: not known yet
  std::vector<Hits> hits;
  /// The nodes of each object whose references are followed next, and their sections.
  std::vector<SmallVector<std::pair<uint32_t, uint32_t>, 0>> frontier;
};
} // namespace

template <class ELFT>
LikelySections<ELFT>::LikelySections(ObjectScans<ELFT> &s, bool c, const NamesByObject &linked)
    : scans(s), knowsColdParts(c), isLinked(s.all.size()), definitions(s.all.size()),
      byScan(s.all.size()), nameHashes(s.all.size()), hits(s.all.size()), frontier(s.all.size()) {
  shareWork(s.numThreads, s.all.size(), [&](size_t i) {
    const ObjectScan<ELFT> &scan = s.all[i];
    if (!scan.object)
      return;
    isLinked[i].resize(scan.object->sections().size(), linked.empty());
    if (!linked.empty())
      forEachNamed(*scan.object, linked[scan.number],
                   [&](uint32_t section, uint32_t) { isLinked[i].set(section); });
    if (isLinked[i].none())
      return;
    for (const auto *symbols : {&scan.code, &scan.data})
      for (GlobalSymbol symbol : *symbols) {
        uint32_t section = scan.object->sectionOf(scan.object->symbols()[symbol.index]);
        if (isLinked[i][section])
          definitions[i].push_back({symbol.hash, section});
      }
  });
}

/// Begins with the startup set.
template <class ELFT> void LikelySections<ELFT>::addFront(uint32_t firstTier) {
  DenseSet<uint64_t> seen;
  for (auto [i, scan] : enumerate(scans.all)) {
    for (auto [section, rank] : scan.startup) {
      if (!isLinked[i][section])
        continue;
      byScan[i][section] = uint32_t(nodes.size());
      // Of copies, one is enough.
      const auto &header = scan.object->sections()[section];
      uint64_t copy = uint64_t(rank) << 32 | hashName(scan.object->name(header)).hash();
      if (!(header.sh_flags & ELF::SHF_GROUP) || seen.insert(copy).second) {
        frontBytes += header.sh_size;
        someBytes += rank < firstTier ? 0 : uint64_t(header.sh_size);
        frontier[i].push_back({uint32_t(nodes.size()), section});
      }
      nodes.push_back({uint32_t(i), section, /*isFront=*/true, 0});
    }
  }
}

template <class ELFT> uint32_t LikelySections<ELFT>::nodeOf(size_t scan, uint32_t section) {
  auto [found, isNew] = byScan[scan].try_emplace(section, uint32_t(nodes.size()));
  if (isNew) {
    nodes.push_back({uint32_t(scan), section, /*isFront=*/false});
    frontier[scan].push_back({found->second, section});
  }
  return found->second;
}

/// Notes where the references of one object's nodes lead to.
template <class ELFT> void LikelySections<ELFT>::follow(size_t i) {
  const ObjectScan<ELFT> &scan = scans.all[i];
  if (frontier[i].empty())
    return;
  const ElfObject<ELFT> &object = *scan.object;
  constexpr uint64_t isName = uint64_t(1) << 32;
  SmallVector<uint64_t, 0> targets; // sections, or symbols with a name
  std::vector<uint32_t> &hashes = nameHashes[i];
  hashes.resize(object.symbols().size());
  auto hashOf = [&](uint32_t symbol) {
    if (!hashes[symbol])
      hashes[symbol] = hashName(object.name(object.symbols()[symbol])).hash();
    return hashes[symbol];
  };
  object.forEachRelocationsOf(frontier[i], [&](auto relocations, uint32_t node) {
    targets.clear();
    object.forEachTarget(relocations, [&](uint32_t index, int64_t) {
      const auto &symbol = object.symbols()[index];
      if (symbol.getBinding() != ELF::STB_LOCAL) {
        targets.push_back(isName | index);
      } else if (uint32_t section = object.sectionOf(symbol)) {
        const auto flags = object.sections()[section].sh_flags;
        const bool isOut = knowsColdParts && scan.coldParts.contains(section);
        if ((flags & ELF::SHF_ALLOC) && !(flags & ELF::SHF_MERGE) && !isOut)
          targets.push_back(section);
      }
    });
    llvm::sort(targets);
    targets.erase(llvm::unique(targets), targets.end());
    const double probability = frontload::follow * (1 - nodes[node].missed) /
                               std::pow(static_cast<double>(targets.size()), double(damping));
    for (uint64_t target : targets)
      if (target & isName)
        hits[i].names.push_back({hashOf(uint32_t(target)), probability});
      else
        hits[i].sections.push_back({uint32_t(target), probability});
  });
  frontier[i].clear();
}

/// Applies what was noted: new nodes are the next frontier. The order of the objects decides, so
/// the result does not depend on threads.
template <class ELFT> void LikelySections<ELFT>::gather() {
  const size_t firstNew = names.size();
  NameFilter wanted(1 << 20);
  for (auto [i, of] : enumerate(hits)) {
    for (auto [section, probability] : of.sections)
      hit(nodeOf(i, section), probability);
    for (auto [hash, probability] : of.names) {
      auto [slot, isNew] = byName.try_emplace(hash, uint32_t(names.size()));
      if (isNew) {
        names.push_back({});
        wanted.add(uint32_t(hash));
      }
      Name &name = names[slot->second];
      if (name.node != none)
        hit(name.node, probability);
      else
        name.missed *= 1 - probability;
    }
    of.sections.clear();
    of.names.clear();
  }
  // Only the hashes are compared: a wrong section in the tail does no harm.
  shareWork(scans.numThreads, scans.all.size(), [&](size_t i) {
    hits[i].found.clear();
    for (auto [hash, section] : definitions[i]) {
      if (!wanted.mayContain(hash))
        continue;
      auto slot = byName.find(hash);
      if (slot != byName.end() && slot->second >= firstNew)
        hits[i].found.push_back({slot->second, section});
    }
  });
  for (auto [i, of] : enumerate(hits))
    for (auto [number, section] : of.found) {
      Name &name = names[number];
      if (name.node == none) {
        name.node = nodeOf(i, section);
        hit(name.node, 1 - name.missed);
      } else {
        const uint32_t copy = byScan[i].try_emplace(section, name.node).first->second;
        nodes[name.node].isFront |= nodes[copy].isFront;
      }
    }
}

template <class ELFT> void LikelySections<ELFT>::spread(Reach reach, uint32_t firstTier) {
  addFront(firstTier);
  for (unsigned step = 0; step < reach.steps; ++step) {
    shareWork(scans.numThreads, scans.all.size(), [&](size_t i) { follow(i); });
    gather();
    for (auto &each : frontier)
      llvm::erase_if(each, [&](const auto &next) {
        const Node &node = nodes[next.first];
        return node.isFront || 1 - node.missed < reach.probability;
      });
  }
}

/// The class of a section that a tail can have.
template <class ELFT>
std::optional<SectionClass> LikelySections<ELFT>::classOf(const Node &node) const {
  const ElfObject<ELFT> &object = *scans.all[node.scan].object;
  const auto &header = object.sections()[node.section];
  if (node.isFront || (header.sh_flags & ELF::SHF_MERGE) || !header.sh_size ||
      header.sh_size > maxLikelySize || costlyPadding(header.sh_addralign))
    return std::nullopt;
  auto found = object.classify(header);
  const bool fits = found == SectionClass::Text || found == SectionClass::Rodata;
  return fits ? found : std::nullopt;
}

template <class ELFT> void LikelySections<ELFT>::place(uint32_t firstRank, bool isUntrained) {
  auto sizeOf = [&](const Node &node) -> uint64_t {
    return scans.all[node.scan].object->sections()[node.section].sh_size;
  };
  std::vector<std::pair<double, uint32_t>> likely; // the number of a node
  for (auto [number, node] : enumerate(nodes))
    if (classOf(node))
      likely.push_back({(node.missed - 1) / static_cast<double>(sizeOf(node)), uint32_t(number)});
  llvm::sort(likely);
  std::vector<uint32_t> ranks(nodes.size(), none);
  uint64_t code = 0;
  for (const ObjectScan<ELFT> &scan : scans.all)
    if (scan.object && !scan.isLazy && isUntrained)
      for (const auto &section : scan.object->sections())
        code += section.sh_flags & ELF::SHF_EXECINSTR ? uint64_t(section.sh_size) : 0;
  uint64_t left = std::min(maxLikely, maxAskedTail - std::min(maxAskedTail, someBytes));
  left = std::min(left, isUntrained ? code / oneOfCode : maxTimesFront * frontBytes);
  for (auto [order, number] : likely) {
    const uint64_t size = sizeOf(nodes[number]);
    if (size > left)
      break;
    left -= size;
    ranks[number] = firstRank++;
  }
  for (auto [i, scan, sections] : enumerate(scans.all, byScan)) {
    // The label before all code of an object is in the front if any of the code moves.
    if (scan.firstLabel && !scan.named.count(scan.firstLabel))
      continue;
    for (auto [section, number] : sections) {
      if (ranks[number] == none || scan.next.count(section))
        continue;
      // What has the same name may be of another class, or keep its place.
      if (auto c = classOf({uint32_t(i), section, /*isFront=*/false}))
        scan.tail.try_emplace(section, Place{ranks[number], *c});
    }
  }
}

template <class ELFT>
void findLikely(ObjectScans<ELFT> &scans, const StartupProfile &profile,
                const NamesByObject &linked, bool isUntrained) {
  // Untouched blocks of touched functions are as likely as calls.
  LikelySections<ELFT> likely(scans, profile.knowsColdParts && !profile.hasBlocks, linked);
  likely.spread(isUntrained ? untrained : Reach{steps, 0.02}, sizeOfFirstTier(profile));
  likely.place(uint32_t(profile.entries.size()), isUntrained);
}

template <class ELFT> void noteStartup(ObjectScan<ELFT> &scan) {
  for (const Places *places : {&scan.named, &scan.referred})
    for (const auto &[section, place] : *places)
      scan.startup.push_back({section, place.rank});
  llvm::sort(scan.startup);
}

template <class ELFT> void addConstructors(ObjectScan<ELFT> &scan) {
  if (scan.isLazy || scan.isLinked)
    return;
  const ElfObject<ELFT> &object = *scan.object;
  SmallVector<std::pair<uint32_t, uint32_t>, 0> arrays; // without a rank
  for (auto [index, section] : enumerate(object.sections()))
    if (is_contained({ELF::SHT_INIT_ARRAY, ELF::SHT_PREINIT_ARRAY}, section.sh_type))
      arrays.push_back({0, uint32_t(index)});
  object.forEachRelocationsOf(arrays, [&](auto relocations, uint32_t) {
    object.forEachTarget(relocations, [&](uint32_t index, int64_t) {
      const uint32_t section = object.sectionOf(object.symbols()[index]);
      if (section && object.classify(object.sections()[section]) == SectionClass::Text &&
          lower(scan.named, section, Place{0, SectionClass::Text}))
        scan.frontier.push_back({0, section});
    });
  });
}

#define INSTANTIATE(ELFT)                                                                          \
  template void findLikely(ObjectScans<ELFT> &, const StartupProfile &, const NamesByObject &,     \
                           bool);                                                                  \
  template void noteStartup(ObjectScan<ELFT> &);                                                   \
  template void addConstructors(ObjectScan<ELFT> &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
