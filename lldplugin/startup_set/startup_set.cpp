//===- startup_set.cpp - the input sections that a profile resolves to -----===//
//
// First, every symbol of every object is looked up in the profile (names/), and the section that it
// lies in is noted: the section, not the name, because the constructors C1 and C2 are aliases of
// each other and their section is named after only one of them.
//
// A function trace says nothing about the data that the functions read, yet each constant that
// stays behind costs a page outside of the front, and a third of them (jump tables, literals,
// strings) has no symbol that any order file could name. So the relocations of the touched
// functions are followed to the data they refer to, and those of that data once more, to the
// constants that its tables point to. Large tables are left out: what is larger than the window
// that a fault reads is cheaper to fault in than to carry along. For functions that were touched by
// a run that records data, only recorded data is taken, and relocations find what it could not
// name.
//
// On a 207 MB clang (bench/workloads/cc1) this takes the cold start from 97 major faults
// (functions, and the unnamed constants they refer to) to 70. A third step to data finds nothing
// more that is touched, but a megabyte that is not.
//
// What no training run has touched, but the startup set refers to (by calls, and by its virtual
// tables), is what the next user's run touches first. It follows the front, in the order of the
// link. Measured with cc1 trained on six compilations and run on another, which touches 312
// functions that are not in the front: 123 faults and 36.8 MB; without, 128 and 38.5. Trained on
// one: 718 and 62.8 MB; without, 748 and 64.1. Without virtual tables, or in the order of callers,
// or with what these call in turn, it was a little worse.
//
// This runs over all objects of a link, most of which the linker will not even extract from their
// archives, so it must be quick: a few nanoseconds per symbol, and all in parallel.
//
//===----------------------------------------------------------------------===//

#include "startup_set/startup_set.h"
#include "elf/elf_object.h"
#include "startup_set/front_worth.h"
#include "startup_set/identical_code.h"
#include "startup_set/share_work.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <array>
#include <functional>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The largest section, in bytes, that is carried into the front only because something in the
/// front refers to it. Half of the 128 KiB that the kernel reads around a fault by default:
/// measured on cc1, 16 KiB costs 7 faults more and 1 MiB saves none.
static constexpr uint64_t referredSizeLimit = 64 << 10;

/// The windows that profiles count in.
static constexpr uint64_t windowBytes = 64 << 10;

/// The longest string that is gathered if something in the front refers to it, in bytes.
static constexpr uint64_t longestString = 16 << 10;

/// Where a section belongs. The lower of two is the one that was touched first.
struct Place {
  uint32_t rank;
  SectionClass sectionClass;
  bool operator<(const Place &other) const { return rank < other.rank; }
};
/// By section index.
using Places = SmallDenseMap<uint32_t, Place>;
/// The lowest rank of what refers to a name.
using RankOfName = DenseMap<CachedHashStringRef, uint32_t>;

/// Sets the value of `key` if it is new or was higher. Returns whether it is new.
template <class Map, class Key, class Value>
static bool lower(Map &map, const Key &key, const Value &value) {
  auto [it, isNew] = map.try_emplace(key, value);
  it->second = std::min(it->second, value);
  return isNew;
}

std::string InputObject::name() const {
  StringRef file = sys::path::filename(buffer.getBufferIdentifier());
  if (archive.empty())
    return file.str();
  return (sys::path::filename(archive) + "(" + file + ")").str();
}

/// Whether a section's name says more than its class: whose constants it holds.
static bool tellsOwner(StringRef sectionName, SectionClass c) {
  StringRef stem = c == SectionClass::Relro ? ".data.rel.ro." : ".rodata.";
  return c == SectionClass::Data ? sectionName.starts_with(".data.")
                                 : sectionName.starts_with(stem);
}

/// The same by the beginning of a section's name, of at least 8 bytes or all of it.
static bool mayTellOwner(StringRef begin) {
  return begin.starts_with(".rodata.") || begin.starts_with(".data.");
}

/// One call of StartupSet::find.
template <class ELFT> class StartupSet::Search {
public:
  Search(StartupSet &s, ArrayRef<InputObject> objects, unsigned n)
      : set(s), scans(objects.size()), numThreads(n) {
    shareWork(numThreads, objects.size(), [&](size_t i) {
      StringRef bytes = objects[i].buffer.getBuffer();
      scans[i].number = set.numObjects + uint32_t(i);
      withElfType(bytes, [&]<class T>() {
        if constexpr (std::is_same_v<T, ELFT>)
          scans[i].object = ElfObject<ELFT>::open(bytes, objects[i].isLinked);
      });
      if (!scans[i].object || !set.hasFiles)
        return;
      scans[i].name = objects[i].name();
      if (auto it = set.sectionEntries.find(scans[i].name); it != set.sectionEntries.end())
        scans[i].sectionEntries = it->second;
    });
  }

  std::vector<StartupSections> run();

private:
  using Shdr = typename ELFT::Shdr;

  struct Match {
    uint32_t entry;
    FindRank rank;
    Definition definition;
    uint32_t section = 0; ///< 0 if it keeps its place
    SectionClass sectionClass = {};
    uint64_t offset = 0; ///< in the section
  };
  /// A symbol that other objects may refer to by its name. There are many: no more than it takes to
  /// see that it is not meant.
  struct GlobalSymbol {
    uint32_t hash;  ///< of its name
    uint32_t index; ///< in the symbol table
  };

  /// One object and what was found in it.
  struct Scan {
    std::optional<ElfObject<ELFT>> object;
    uint32_t number = 0;               ///< of all objects of the link
    std::string name;                  ///< as in profiles; empty if the profile cannot name it
    ArrayRef<uint32_t> sectionEntries; ///< those that name a section of this object
    SmallVector<Match, 0> matches;
    SmallVector<GlobalSymbol, 0> data, code;
    BitVector hasDataSymbol;      ///< by section index
    DenseSet<uint32_t> coldParts; ///< sections of what compilers split off as unlikely

    /// Calls `visit` with the name and the section of each symbol that may be of the set.
    template <class Visit>
    void forEachOf(ArrayRef<GlobalSymbol> symbols, const NameFilter &set, Visit visit) const {
      for (GlobalSymbol global : symbols)
        if (set.mayContain(global.hash)) {
          const auto &symbol = object->symbols()[global.index];
          visit(CachedHashStringRef(object->name(symbol), global.hash), object->sectionOf(symbol));
        }
    }

    Places named;
    Places referred; ///< data that the front refers to
    Places next;     ///< what follows the front
    /// The sections whose relocations are followed next: rank and section index.
    SmallVector<std::pair<uint32_t, uint32_t>, 0> frontier;
    /// What the last step found to be referred to by name.
    SmallVector<std::pair<CachedHashStringRef, uint32_t>, 0> wanted;
    /// What the front calls: sections of this object, and names.
    SmallVector<uint32_t, 0> calledSections;
    /// Cold parts of functions in the front, and the ranks of these.
    SmallVector<std::pair<uint32_t, uint32_t>, 0> unlikelyParts;
    SmallVector<CachedHashStringRef, 0> calledNames;
    /// Strings that the front refers to.
    SmallVector<StringRef, 0> strings;
    bool definesEnd = false; ///< a symbol `_end` that other objects see
    bool isGo = false;       ///< all that Go's own linker has linked
  };

  /// Runs `f` on each object, in parallel; `f` changes nothing but its argument.
  template <class F> void forEach(F f) {
    shareWork(numThreads, scans.size(), [&](size_t i) {
      if (scans[i].object)
        f(scans[i]);
    });
  }

  void lookUpSymbols(Scan &scan);
  void lookUpSections(Scan &scan);
  void settleMatches();
  void addPlace(const Scan &scan, const Match &m);
  void addIdenticalCode();
  void resolve(Scan &scan);
  void followAll();
  void placeCalls();
  void follow(Scan &scan);
  void referTo(Scan &scan, uint32_t section, uint32_t rank);
  void referToString(Scan &scan, const Shdr &section, uint64_t offset, uint32_t rank);
  bool isRecorded(const Scan &scan, uint32_t section, SectionClass c) const;
  /// Whether the profile knows what the entry of a rank of the startup set has touched.
  bool isMeasured(uint32_t rank) const { return set.hasData && set.profile.entries[rank].measured; }
  void addNext(Scan &scan, uint32_t section, SectionClass c);

  StartupSet &set;
  std::vector<Scan> scans;
  const unsigned numThreads;
  NameFilter dataNames{1 << 22};
  /// Whether the relocations of what the profile names are followed: what they call is noted.
  bool notesCalls = true;
};

StartupSet::StartupSet(const StartupProfile &p, bool g, bool f)
    : profile(p), gathersStrings(g), foldsCode(f), hasData(p.dataRuns), found(p.entries.size()),
      unmovable(p.entries.size(), false) {
  namesMade = std::async(std::launch::async, [this] { names.emplace(profile); });
  strings.add(""); // profiles cannot name it, and nearly every program reads it
  for (uint32_t i = 0; i < p.entries.size(); ++i) {
    const ProfileEntry &entry = p.entries[i];
    hasFiles |= !entry.file.empty();
    if (entry.kind == EntryKind::String) {
      hasStrings = true;
      strings.add(entry.name);
    } else if (entry.kind == EntryKind::Section) {
      hasSections = true;
      sectionEntries[entry.file].push_back(i);
      if (tellsOwner(entry.name, entry.sectionClass)) {
        ownedSections[entry.name].push_back(i);
        ownedNames.add(StringMapImpl::hash(entry.name));
      }
    }
  }
}

template <class ELFT> void StartupSet::Search<ELFT>::lookUpSymbols(Scan &scan) {
  const ElfObject<ELFT> &object = *scan.object;
  if (set.hasData)
    scan.hasDataSymbol.resize(object.sections().size());
  // What entries may call the file of a local symbol; the object's name is empty if none does.
  std::array<CachedHashStringRef, 2> files = {CachedHashStringRef(scan.name),
                                              CachedHashStringRef("")};
  StringRef sourceFile;
  for (uint32_t index = 0; index < object.symbols().size(); ++index) {
    const auto &symbol = object.symbols()[index];
    uint8_t type = symbol.getType();
    if (type == ELF::STT_FILE) {
      files[1] = CachedHashStringRef(sourceFile = object.name(symbol));
      scan.isGo |= sourceFile == "go.go";
    }
    // Half of all symbols are references to elsewhere.
    if (type == ELF::STT_FILE || type == ELF::STT_SECTION || symbol.st_shndx == ELF::SHN_UNDEF)
      continue;
    HashedName name(object.name(symbol));
    uint32_t section = object.sectionOf(symbol);
    bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
    scan.definesEnd |= !isLocal && name.text() == "_end";
    if (!isLocal && section) {
      uint32_t hash = name.whole().hash();
      (type == ELF::STT_FUNC ? scan.code : scan.data).push_back({hash, index});
      if (type != ELF::STT_FUNC)
        dataNames.add(hash);
    }
    if (set.hasData && type == ELF::STT_OBJECT && section)
      scan.hasDataSymbol.set(section);
    if (isLocal && section && !name.isPlain() && takeApart(name.text()).isCold)
      scan.coldParts.insert(section);
    auto mayAgree = ArrayRef(files).take_front(isLocal && set.hasFiles ? files.size() : 0);
    set.names->find(name, mayAgree, [&](uint32_t entry, Likeness likeness) {
      const ProfileEntry &wanted = set.profile.entries[entry];
      // What is not called so has to be of its kind; who imports names may not know that.
      bool isCode = section && (object.sections()[section].sh_flags & ELF::SHF_EXECINSTR);
      bool isOfKind = !section || isCode == (wanted.kind == EntryKind::Function);
      if (likeness != Likeness::Exact && !isOfKind)
        return;
      StringRef file = wanted.file;
      bool agrees = isLocal && (file == sourceFile || file == scan.name);
      FindRank rank(likeness, isLocal, !file.empty(), agrees);
      Match match{entry, rank, {name.text(), scan.number, isLocal}};
      if (auto c = section ? object.classify(object.sections()[section]) : std::nullopt)
        match.section = section, match.sectionClass = *c;
      match.offset = symbol.st_value;
      scan.matches.push_back(match);
    });
  }
}

/// Finds the sections that the profile knows by their own names.
template <class ELFT> void StartupSet::Search<ELFT>::lookUpSections(Scan &scan) {
  const ElfObject<ELFT> &object = *scan.object;
  StringMap<uint32_t> entryOf;
  for (uint32_t entry : scan.sectionEntries)
    entryOf.try_emplace(set.profile.entries[entry].name, entry);
  for (auto [index, section] : enumerate(object.sections())) {
    // One of a group (COMDAT) is as good as that of the recorded object, and may be the one that is
    // kept.
    bool isCopy = (section.sh_flags & ELF::SHF_GROUP) && (section.sh_flags & ELF::SHF_ALLOC) &&
                  !(section.sh_flags & ELF::SHF_EXECINSTR);
    if (!isCopy && entryOf.empty())
      continue;
    bool mayTell = isCopy && mayTellOwner(object.nameBegin(section));
    if (!mayTell && entryOf.empty())
      continue;
    StringRef name = object.name(section);
    uint32_t hash = StringMapImpl::hash(name);
    auto match = [&](uint32_t entry) {
      if (auto sectionClass = object.classify(section))
        scan.matches.push_back({entry,
                                FindRank(Likeness::Exact, true, true, true),
                                {name, scan.number, /*isLocal=*/false},
                                uint32_t(index),
                                *sectionClass});
    };
    auto owned = mayTell && set.ownedNames.mayContain(hash) ? set.ownedSections.find(name, hash)
                                                            : set.ownedSections.end();
    if (owned != set.ownedSections.end())
      llvm::for_each(owned->second, match);
    else if (auto own = entryOf.find(name, hash); own != entryOf.end())
      match(own->second);
  }
}

template <class ELFT> void StartupSet::Search<ELFT>::addPlace(const Scan &scan, const Match &m) {
  const char *name = scan.object->nameBegin(scan.object->sections()[m.section]).data();
  set.places.push_back({m.entry, scan.number, m.section, name, m.definition.symbol, m.offset});
}

/// Drops the matches that do not count, and takes note of where the others are.
template <class ELFT> void StartupSet::Search<ELFT>::settleMatches() {
  for (const Scan &scan : scans)
    for (const Match &m : scan.matches)
      set.found.note(m.entry, m.rank);
  for (Scan &scan : scans)
    llvm::erase_if(scan.matches, [&](const Match &m) {
      if (!set.found.accept(m.entry, m.rank, m.definition))
        return true;
      if (!m.section) {
        set.unmovable[m.entry] = true;
        return true;
      }
      addPlace(scan, m);
      return false;
    });
}

/// Adds a match wherever there is code that may be folded with that of a match.
template <class ELFT> void StartupSet::Search<ELFT>::addIdenticalCode() {
  auto hashesOf = [](const Scan &scan, auto isWanted, auto visit) {
    SmallVector<std::pair<uint32_t, uint32_t>, 0> wanted;
    for (auto [index, section] : enumerate(scan.object->sections()))
      if (isWanted(uint32_t(index), section))
        wanted.push_back({0, uint32_t(index)});
    DenseMap<uint32_t, const Shdr *> relocations;
    scan.object->forEachRelocationsOf(
        wanted, [&](const Shdr &table, uint32_t) { relocations[table.sh_info] = &table; });
    for (auto [_, index] : wanted)
      visit(index, hashCode(*scan.object, scan.object->sections()[index], relocations[index]));
  };
  using Entries = SmallVector<uint32_t, 1>;
  DenseMap<uint64_t, Entries> entriesOf;
  DenseSet<uint64_t> sizes;
  for (const Scan &scan : scans) {
    DenseMap<uint32_t, Entries> named;
    for (const Match &m : scan.matches)
      if (m.sectionClass == SectionClass::Text)
        named[m.section].push_back(m.entry);
    auto isNamed = [&](uint32_t index, const Shdr &) { return named.contains(index); };
    if (!named.empty())
      hashesOf(scan, isNamed, [&](uint32_t index, uint64_t hash) {
        sizes.insert(scan.object->sections()[index].sh_size);
        llvm::append_range(entriesOf[hash], named[index]);
      });
  }
  forEach([&](Scan &scan) {
    DenseSet<uint32_t> named;
    for (const Match &m : scan.matches)
      named.insert(m.section);
    auto mayBe = [&](uint32_t index, const Shdr &section) {
      return (section.sh_flags & ELF::SHF_EXECINSTR) && sizes.contains(section.sh_size) &&
             !named.contains(index) && scan.object->classify(section) == SectionClass::Text;
    };
    hashesOf(scan, mayBe, [&](uint32_t index, uint64_t hash) {
      if (auto it = entriesOf.find(hash); it != entriesOf.end())
        for (uint32_t entry : it->second)
          scan.matches.push_back({entry, {}, {}, index, SectionClass::Text});
    });
  });
  for (const Scan &scan : scans)
    for (const Match &m : scan.matches)
      if (!m.rank.isFound())
        addPlace(scan, m);
}

/// Turns the matches into sections.
template <class ELFT> void StartupSet::Search<ELFT>::resolve(Scan &scan) {
  struct Touched {
    double share = 0, windows = 0;
  };
  SmallDenseMap<uint32_t, Touched> touched;
  DenseSet<std::pair<uint32_t, uint64_t>> seenWindows;
  for (const Match &m : scan.matches) {
    const ProfileEntry &entry = set.profile.entries[m.entry];
    double share = set.profile.share(entry);
    Touched &t = touched[m.section];
    t.share = std::max(t.share, share);
    // What is not in sections of its own has many names in one, which may be touched far apart.
    if (seenWindows.insert({m.section, m.offset / windowBytes}).second)
      t.windows += share * static_cast<double>(entry.windows);
  }
  for (const Match &m : scan.matches) {
    const Touched &t = touched.find(m.section)->second;
    // All of the writable data is in the front anyway.
    bool isConstant =
        m.sectionClass == SectionClass::Text || m.sectionClass == SectionClass::Rodata;
    uint64_t size = scan.object->sections()[m.section].sh_size;
    lower(isConstant && !belongsToFront(size, t.windows, t.share) ? scan.next : scan.named,
          m.section, Place{m.entry, m.sectionClass});
  }
  for (auto [section, place] : scan.named)
    scan.frontier.push_back({place.rank, section});
  // Go's runtime looks for its constants before its variables only, which end the front.
  if (scan.isGo)
    for (auto [index, section] : enumerate(scan.object->sections()))
      if (scan.object->classify(section) == SectionClass::Rodata && !scan.named.count(index)) {
        scan.next.erase(index);
        scan.referred.try_emplace(
            index, Place{uint32_t(set.profile.entries.size()) - 1, SectionClass::Rodata});
      }
}

/// Whether the profile has recorded a section, or could not have.
template <class ELFT>
bool StartupSet::Search<ELFT>::isRecorded(const Scan &scan, uint32_t section,
                                          SectionClass c) const {
  const Shdr &header = scan.object->sections()[section];
  if (header.sh_flags & ELF::SHF_MERGE) // merged with those of other objects, and nameless
    return true;
  if (scan.hasDataSymbol.test(section))
    return false;
  StringRef name = scan.object->name(header);
  return !set.hasSections || (tellsOwner(name, c) && set.ownedSections.contains(name));
}

/// Puts a section behind the front, unless it is in it: behind those that the profile names.
template <class ELFT>
void StartupSet::Search<ELFT>::addNext(Scan &scan, uint32_t section, SectionClass c) {
  if (!scan.named.count(section) && !scan.referred.count(section))
    scan.next.try_emplace(section, Place{uint32_t(set.profile.entries.size()), c});
}

/// Takes note that something refers to `section`.
template <class ELFT>
void StartupSet::Search<ELFT>::referTo(Scan &scan, uint32_t section, uint32_t rank) {
  const Shdr &header = scan.object->sections()[section];
  if (header.sh_flags & ELF::SHF_EXECINSTR) {
    // A function refers to its own cold part, too: the least likely of all that it may go on with.
    bool isColdPart = scan.coldParts.contains(section) && scan.object->name(header) != ".text";
    if (notesCalls && !isColdPart)
      scan.calledSections.push_back(section);
    else if (notesCalls && !set.profile.knowsColdParts)
      scan.unlikelyParts.push_back({section, rank});
    return;
  }
  if (scan.named.count(section))
    return;
  bool isMerged = header.sh_flags & ELF::SHF_MERGE;
  if (isMerged && set.gathersStrings && isStringSection(scan.object->name(header)))
    return;
  // The strings of an object are one section, and are merged with those of all others.
  if (header.sh_size > referredSizeLimit && !isMerged)
    return;
  auto sectionClass = scan.object->classify(header);
  if (!sectionClass)
    return;
  if (isMeasured(rank) && !isRecorded(scan, section, *sectionClass)) {
    if (*sectionClass == SectionClass::Rodata)
      addNext(scan, section, *sectionClass);
  } else if (lower(scan.referred, section, Place{rank, *sectionClass})) {
    scan.next.erase(section);
    scan.frontier.push_back({rank, section});
  }
}

/// Takes note of the string at `offset` of a section of strings. Where the profile has recorded
/// strings, this adds the paths of files: it is the kernel that reads these, which no recorder
/// sees.
template <class ELFT>
void StartupSet::Search<ELFT>::referToString(Scan &scan, const Shdr &section, uint64_t offset,
                                             uint32_t rank) {
  StringRef contents = scan.object->contents(section);
  if (offset >= contents.size())
    return;
  // A piece of it: to look for both ends of a string of megabytes for each reference takes hours.
  uint64_t dropped = offset > longestString ? offset - longestString : 0;
  contents = contents.substr(dropped, 2 * longestString);
  offset -= dropped;
  size_t before = contents.rfind('\0', offset), end = contents.find('\0', offset);
  if (end == StringRef::npos || (before == StringRef::npos && dropped))
    return;
  StringRef string = contents.slice(before + 1, end); // from 0 if there is none before it
  if (!set.hasStrings || !isMeasured(rank) || string.starts_with("/"))
    scan.strings.push_back(string);
}

/// Follows the relocations of the sections in the frontier. What they refer to in the same object
/// becomes the new frontier, what they refer to by name is noted in `wanted`.
template <class ELFT> void StartupSet::Search<ELFT>::follow(Scan &scan) {
  if (scan.frontier.empty())
    return;
  const ElfObject<ELFT> &object = *scan.object;
  auto origins = std::exchange(scan.frontier, {});
  // In ascending rank, so that the first reference to a symbol is the one that counts.
  llvm::sort(origins);
  // What a measured function refers to need not be taken; if another one does, it is looked at
  // anew.
  std::array<BitVector, 2> seenBy;
  seenBy.fill(BitVector(object.symbols().size()));
  object.forEachRelocationsOf(origins, [&](const auto &relocations, uint32_t rank) {
    BitVector &seen = seenBy[isMeasured(rank)];
    object.forEachTarget(relocations, [&](uint32_t index, int64_t addend) {
      const auto &symbol = object.symbols()[index];
      bool isSection = symbol.getType() == ELF::STT_SECTION;
      if (seen.test(index) && !(isSection && set.gathersStrings))
        return;
      seen.set(index);
      if (symbol.getType() == ELF::STT_FUNC && !notesCalls)
        return;
      if (symbol.getBinding() == ELF::STB_LOCAL) {
        uint32_t section = object.sectionOf(symbol);
        if (!section)
          return;
        const Shdr &header = object.sections()[section];
        if (set.gathersStrings && isStringSection(object.name(header)))
          referToString(scan, header, isSection ? addend : int64_t(symbol.st_value), rank);
        referTo(scan, section, rank);
        return;
      }
      CachedHashStringRef name = hashName(object.name(symbol));
      bool mayBeData = symbol.getType() != ELF::STT_FUNC && dataNames.mayContain(name.hash());
      if (mayBeData)
        scan.wanted.push_back({name, rank});
      // It may be code, after all: most references do not tell, and the filter only guesses.
      if (notesCalls)
        scan.calledNames.push_back(name);
    });
  });
}

/// One step along the relocations, through all objects.
template <class ELFT> void StartupSet::Search<ELFT>::followAll() {
  forEach([&](Scan &scan) { follow(scan); });
  std::array<RankOfName, 2> wantedBy;
  NameFilter wantedNames(1 << 18);
  for (Scan &scan : scans) {
    for (auto [name, rank] : scan.wanted) {
      wantedNames.add(name.hash());
      lower(wantedBy[isMeasured(rank)], name, rank);
    }
    scan.wanted.clear();
  }
  forEach([&](Scan &scan) {
    scan.forEachOf(scan.data, wantedNames, [&](CachedHashStringRef name, uint32_t section) {
      for (const RankOfName &wanted : wantedBy)
        if (auto it = wanted.find(name); it != wanted.end())
          referTo(scan, section, it->second);
    });
  });
}

/// Puts what the front calls behind it.
template <class ELFT> void StartupSet::Search<ELFT>::placeCalls() {
  DenseSet<CachedHashStringRef> called;
  NameFilter calledNames(1 << 18);
  for (const Scan &scan : scans)
    for (CachedHashStringRef name : scan.calledNames) {
      calledNames.add(name.hash());
      called.insert(name);
    }
  forEach([&](Scan &scan) {
    auto add = [&](uint32_t section) {
      if (auto c = scan.object->classify(scan.object->sections()[section]))
        addNext(scan, section, *c);
    };
    // If nothing is known of the cold parts, they come first: of git's, 8% (gcc) to 35% (clang) are
    // entered, of what is called and was not recorded next to nothing.
    for (auto [section, rank] : scan.unlikelyParts)
      if (!scan.named.count(section))
        lower(scan.next, section, Place{rank, SectionClass::Text});
    llvm::for_each(scan.calledSections, add);
    scan.forEachOf(scan.code, calledNames, [&](CachedHashStringRef name, uint32_t section) {
      if (called.contains(name))
        add(section);
    });
  });
}

template <class ELFT> std::vector<StartupSections> StartupSet::Search<ELFT>::run() {
  forEach([&](Scan &scan) {
    lookUpSymbols(scan);
    if (!scan.sectionEntries.empty() || !set.ownedSections.empty())
      lookUpSections(scan);
  });
  for (const Scan &scan : scans)
    set.hasEnd |= scan.definesEnd;
  settleMatches();
  if (set.foldsCode)
    addIdenticalCode();
  forEach([&](Scan &scan) { resolve(scan); });
  // From code to data, then from data to the data it points to.
  followAll();
  notesCalls = false;
  followAll();
  placeCalls();
  for (const Scan &scan : scans)
    for (StringRef contents : scan.strings)
      set.strings.add(contents);

  std::vector<StartupSections> result(scans.size());
  shareWork(numThreads, scans.size(), [&](size_t i) {
    auto add = [&](const Places &found, Region region, bool named) {
      for (const auto &[index, place] : found) {
        // All of the writable data is in the front; a guess is not worth putting it in order.
        if (&found == &scans[i].referred && place.sectionClass != SectionClass::Rodata)
          continue;
        const Shdr &section = scans[i].object->sections()[index];
        result[i].push_back({scans[i].object->nameBegin(section).data(), index, place.rank,
                             place.sectionClass, region, named, uint64_t(section.sh_size)});
      }
    };
    add(scans[i].named, Region::Front, /*named=*/true);
    add(scans[i].referred, Region::Front, /*named=*/false);
    add(scans[i].next, Region::Next, /*named=*/false);
    llvm::sort(result[i], [](const auto &a, const auto &b) { return a.index < b.index; });
  });
  return result;
}

std::vector<StartupSections> StartupSet::find(ArrayRef<InputObject> objects, unsigned numThreads) {
  if (namesMade.valid())
    namesMade.get();
  std::vector<StartupSections> result(objects.size());
  const InputObject *first = llvm::find_if(objects, std::mem_fn(&InputObject::isElf));
  if (first != objects.end())
    withElfType(first->buffer.getBuffer(),
                [&]<class ELFT>() { result = Search<ELFT>(*this, objects, numThreads).run(); });
  numObjects += uint32_t(objects.size());
  return result;
}

} // namespace frontload
