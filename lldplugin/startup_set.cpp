//===- startup_set.cpp - the input sections that a profile resolves to -----===//
//
// First, every symbol of every object is looked up in the profile, and the section that it lies in
// is noted: the section, not the name, because the constructors C1 and C2 are aliases of each other
// and their section is named after only one of them.
//
// A function trace says nothing about the data that the functions read, yet each constant that
// stays behind costs a page outside of the front, and a third of them (jump tables, literals,
// strings) has no symbol that any order file could name. So the relocations of the touched
// functions are followed to the data they refer to, and those of that data once more, to the
// constants that its tables point to. Large tables are left out: what is larger than the window
// that a fault reads is cheaper to fault in than to carry along.
//
// On a 207 MB clang (bench/workloads/cc1) this takes the cold start from 97 major faults
// (functions, and the unnamed constants they refer to) to 70. A third step to data finds nothing
// more that is touched, but a megabyte that is not.
//
// This runs over all objects of a link, most of which the linker will not even extract from their
// archives, so it must be quick: a few nanoseconds per symbol, and all in parallel.
//
//===----------------------------------------------------------------------===//

#include "startup_set.h"
#include "elf_object.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Parallel.h"
#include <algorithm>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

static constexpr uint32_t none = ~0u;

/// The largest section, in bytes, that is carried into the front only because something in the
/// front refers to it. Half of the 128 KiB that the kernel reads around a fault by default:
/// measured on cc1, 16 KiB costs 7 faults more and 1 MiB saves none.
static constexpr uint64_t referredSizeLimit = 64 << 10;

/// Where a section belongs. The lower of two is the one that was touched first.
struct Place {
  uint32_t rank;
  SectionClass sectionClass;
  bool operator<(const Place &other) const { return rank < other.rank; }
};
/// By section index.
using Places = SmallDenseMap<uint32_t, Place>;

/// Sets the value of `key` if it is new or was higher. Returns whether it is new.
template <class Map, class Key, class Value>
static bool lower(Map &map, const Key &key, const Value &value) {
  auto [it, isNew] = map.try_emplace(key, value);
  it->second = std::min(it->second, value);
  return isNew;
}

/// One call of StartupSet::find.
template <class ELFT> class StartupSet::Search {
public:
  Search(StartupSet &s, ArrayRef<MemoryBufferRef> objects) : set(s), scans(objects.size()) {
    parallelFor(0, objects.size(), [&](size_t i) {
      StringRef bytes = objects[i].getBuffer();
      withElfType(bytes, [&]<class T>() {
        if constexpr (std::is_same_v<T, ELFT>)
          scans[i].object = ElfObject<ELFT>::open(bytes);
      });
    });
  }

  std::vector<StartupSections> run();

private:
  struct Match {
    uint32_t entry;
    uint32_t section;
    SectionClass sectionClass;
    bool exact; ///< it agrees with the entry's source file, if that has one
  };
  struct DataSymbol {
    CachedHashStringRef name;
    uint32_t section;
  };

  /// One object and what was found in it.
  struct Scan {
    std::optional<ElfObject<ELFT>> object;
    SmallVector<Match, 0> matches;
    SmallVector<uint32_t, 0> unmovable; ///< entries that are defined here but cannot be placed
    /// What other objects may refer to by name and may be data.
    SmallVector<DataSymbol, 0> dataSymbols;

    Places named;
    Places referred;
    /// The sections whose relocations are followed next: rank and section index.
    SmallVector<std::pair<uint32_t, uint32_t>, 0> frontier;
    /// What the last step found to be referred to by name.
    SmallVector<std::pair<CachedHashStringRef, uint32_t>, 0> wanted;
  };

  /// Runs `f` on each object, in parallel; `f` changes nothing but its argument.
  template <class F> void forEach(F f) {
    parallelFor(0, scans.size(), [&](size_t i) {
      if (scans[i].object)
        f(scans[i]);
    });
  }

  void lookUpSymbols(Scan &scan);
  void noteMatches(const Scan &scan);
  void notePlaces(const Scan &scan);
  bool counts(const Match &m) const { return m.exact || !set.hasExact[m.entry]; }
  void resolve(Scan &scan);
  void follow(Scan &scan);
  void markWanted(Scan &scan, const DenseMap<CachedHashStringRef, uint32_t> &wanted);
  void refer(Scan &scan, uint32_t section, uint32_t rank);

  StartupSet &set;
  std::vector<Scan> scans;
  NameFilter dataNames{1 << 22};
};

StartupSet::StartupSet(const StartupProfile &p)
    : profile(p), sameName(p.entries.size(), none), unmovable(p.entries.size(), false),
      hasExact(p.entries.size(), false) {
  lastEntry.reserve(p.entries.size());
  for (uint32_t i = 0; i < p.entries.size(); ++i) {
    CachedHashStringRef name(p.entries[i].name);
    profileNames.add(name);
    auto [it, isNew] = lastEntry.try_emplace(name, i);
    if (!isNew)
      sameName[i] = std::exchange(it->second, i);
  }
}

template <class ELFT> void StartupSet::Search<ELFT>::lookUpSymbols(Scan &scan) {
  const ElfObject<ELFT> &object = *scan.object;
  StringRef sourceFile;
  for (const auto &symbol : object.symbols()) {
    uint8_t type = symbol.getType();
    if (type == ELF::STT_FILE)
      sourceFile = object.name(symbol);
    // Half of all symbols are references to elsewhere.
    if (type == ELF::STT_FILE || type == ELF::STT_SECTION || symbol.st_shndx == ELF::SHN_UNDEF)
      continue;
    CachedHashStringRef name(object.name(symbol));
    uint32_t section = object.sectionOf(symbol);
    bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
    if (!isLocal && section && type != ELF::STT_FUNC) {
      scan.dataSymbols.push_back({name, section});
      dataNames.add(name);
    }
    if (!set.profileNames.mayContain(name))
      continue;
    auto it = set.lastEntry.find(name);
    if (it == set.lastEntry.end())
      continue;
    for (uint32_t entry = it->second; entry != none; entry = set.sameName[entry]) {
      const std::string &file = set.profile.entries[entry].file;
      auto sectionClass = section ? object.classify(object.sections()[section]) : std::nullopt;
      if (!sectionClass)
        scan.unmovable.push_back(entry);
      else
        scan.matches.push_back({entry, section, *sectionClass,
                                file.empty() ? !isLocal : isLocal && file == sourceFile});
    }
  }
}

template <class ELFT> void StartupSet::Search<ELFT>::noteMatches(const Scan &scan) {
  for (const Match &m : scan.matches)
    if (m.exact)
      set.hasExact[m.entry] = true;
  for (uint32_t entry : scan.unmovable)
    set.unmovable[entry] = true;
}

/// Takes note of where the entries may be placed, once it is known which matches count.
template <class ELFT> void StartupSet::Search<ELFT>::notePlaces(const Scan &scan) {
  for (const Match &m : scan.matches)
    if (counts(m))
      set.places.push_back(
          {m.entry, scan.object->nameBegin(scan.object->sections()[m.section]).data()});
}

/// Turns the matches into sections.
template <class ELFT> void StartupSet::Search<ELFT>::resolve(Scan &scan) {
  for (const Match &m : scan.matches)
    if (counts(m))
      lower(scan.named, m.section, Place{m.entry, m.sectionClass});
  for (auto [section, place] : scan.named)
    scan.frontier.push_back({place.rank, section});
}

/// Takes note that something in the front refers to `section`.
template <class ELFT>
void StartupSet::Search<ELFT>::refer(Scan &scan, uint32_t section, uint32_t rank) {
  const auto &header = scan.object->sections()[section];
  // The strings of an object are one section, and are merged with those of all others.
  if (header.sh_size > referredSizeLimit && !(header.sh_flags & ELF::SHF_MERGE))
    return;
  if ((header.sh_flags & ELF::SHF_EXECINSTR) || scan.named.count(section))
    return;
  if (auto sectionClass = scan.object->classify(header))
    if (lower(scan.referred, section, Place{rank, *sectionClass}))
      scan.frontier.push_back({rank, section});
}

/// Follows the relocations of the sections in the frontier. What they refer to in the same object
/// becomes the new frontier, what they refer to by name is noted in `wanted`.
template <class ELFT> void StartupSet::Search<ELFT>::follow(Scan &scan) {
  const ElfObject<ELFT> &object = *scan.object;
  auto origins = std::exchange(scan.frontier, {});
  // In ascending rank, so that the first reference to a symbol is the one that counts.
  llvm::sort(origins);
  BitVector seen(object.symbols().size());
  object.forEachRelocationsOf(origins, [&](const auto &relocations, uint32_t rank) {
    object.forEachTarget(relocations, [&](uint32_t index) {
      if (seen.test(index))
        return;
      seen.set(index);
      const auto &symbol = object.symbols()[index];
      if (symbol.getType() == ELF::STT_FUNC)
        return;
      if (symbol.getBinding() == ELF::STB_LOCAL) {
        if (uint32_t section = object.sectionOf(symbol))
          refer(scan, section, rank);
        return;
      }
      CachedHashStringRef name(object.name(symbol));
      if (dataNames.mayContain(name))
        scan.wanted.push_back({name, rank});
    });
  });
}

/// Takes note of the data in this object that others refer to by name.
template <class ELFT>
void StartupSet::Search<ELFT>::markWanted(Scan &scan,
                                          const DenseMap<CachedHashStringRef, uint32_t> &wanted) {
  for (const DataSymbol &symbol : scan.dataSymbols)
    if (auto it = wanted.find(symbol.name); it != wanted.end())
      refer(scan, symbol.section, it->second);
}

template <class ELFT> std::vector<StartupSections> StartupSet::Search<ELFT>::run() {
  forEach([&](Scan &scan) { lookUpSymbols(scan); });
  for (const Scan &scan : scans)
    noteMatches(scan);
  for (const Scan &scan : scans)
    notePlaces(scan);
  forEach([&](Scan &scan) { resolve(scan); });
  // From code to data, then from data to the data it points to.
  for (int step = 0; step < 2; ++step) {
    forEach([&](Scan &scan) { follow(scan); });
    DenseMap<CachedHashStringRef, uint32_t> wanted;
    for (Scan &scan : scans) {
      for (auto [name, rank] : scan.wanted)
        lower(wanted, name, rank);
      scan.wanted.clear();
    }
    forEach([&](Scan &scan) { markWanted(scan, wanted); });
  }

  std::vector<StartupSections> result(scans.size());
  parallelFor(0, scans.size(), [&](size_t i) {
    auto add = [&](uint32_t index, const Place &place, bool named) {
      const auto &section = scans[i].object->sections()[index];
      result[i].push_back({scans[i].object->nameBegin(section).data(), place.rank,
                           place.sectionClass, named, uint64_t(section.sh_size)});
    };
    for (const auto &[index, place] : scans[i].named)
      add(index, place, true);
    // All of the writable data is in the front; a guess is not worth putting it in order.
    for (const auto &[index, place] : scans[i].referred)
      if (place.sectionClass == SectionClass::Rodata)
        add(index, place, false);
  });
  return result;
}

std::vector<StartupSections> StartupSet::find(ArrayRef<MemoryBufferRef> objects) {
  std::vector<StartupSections> result(objects.size());
  auto isElf = [](MemoryBufferRef b) { return b.getBuffer().starts_with(ELF::ElfMagic); };
  if (const MemoryBufferRef *first = llvm::find_if(objects, isElf); first != objects.end())
    withElfType(first->getBuffer(),
                [&]<class ELFT>() { result = Search<ELFT>(*this, objects).run(); });
  return result;
}

} // namespace frontload
