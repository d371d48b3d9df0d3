//===- look_up.cpp - looks all symbols of a link up in a profile -----------===//

#include "startup_set/look_up.h"
#include "startup_set/code_labels.h"
#include "startup_set/unnamed_sections.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <utility>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The symbols of one piece of work. After a full piece, the pages of a mapped file are freed.
static constexpr uint32_t symbolsAtATime = 1 << 18;

template <class ELFT>
ObjectScans<ELFT> openObjects(ArrayRef<InputObject> objects, uint32_t first,
                              const ProfileContents &contents, unsigned numThreads) {
  ObjectScans<ELFT> scans{std::vector<ObjectScan<ELFT>>(objects.size()), numThreads};
  shareWork(numThreads, objects.size(), [&](size_t i) {
    ObjectScan<ELFT> &scan = scans.all[i];
    scan.input = &objects[i];
    StringRef bytes = objects[i].buffer.getBuffer();
    scan.number = first + uint32_t(i);
    withElfType(bytes, [&]<class T>() {
      if constexpr (std::is_same_v<T, ELFT>)
        scan.object = ElfObject<ELFT>::open(bytes, objects[i].isLinked);
    });
    if (!scan.object || !contents.hasFiles)
      return;
    scan.name = objects[i].name();
    scan.sectionEntries = contents.sectionsOf(scan.name);
  });
  return scans;
}

namespace {
/// Some of the symbols of an object, which are looked up in one thread.
template <class ELFT> struct SymbolRange {
  ObjectScan<ELFT> *scan;
  uint32_t begin, end;
  /// The name of the last file symbol before the range: the file of its first local symbols.
  StringRef file;
};
} // namespace

/// Notes that an entry may mean a symbol.
template <class ELFT>
static void addMatch(const NameTable::Match &found, const ObjectScan<ELFT> &scan, uint32_t index,
                     StringRef name, const StartupProfile &profile, SymbolFinds &finds) {
  const ElfObject<ELFT> &object = *scan.object;
  const auto &symbol = object.symbols()[index];
  const ProfileEntry &profiled = profile.entries[found.entry];
  uint32_t section = object.sectionOf(symbol);
  // Only an exact name may be of another kind: importers of names may not know the kind.
  bool isCode = section && (object.sections()[section].sh_flags & ELF::SHF_EXECINSTR);
  bool isOfKind = !section || isCode == (profiled.kind == EntryKind::Function);
  if (found.likeness != Likeness::Exact && !isOfKind)
    return;
  bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
  FindRank rank(found.likeness, isLocal, !profiled.file.empty(), found.isOfFile);
  EntryMatch match{found.entry, rank, {name, scan.number, isLocal}};
  if (auto c = section ? object.classify(object.sections()[section]) : std::nullopt)
    match.section = section, match.sectionClass = *c;
  else
    match.keptSection = section;
  match.offset = symbol.st_value;
  match.symbolIndex = index;
  finds.matches.push_back(match);
}

/// Calls `visit(index, files)` for each definition of a range. `files` are the names that entries
/// may give the file of a local symbol: the object, and the source. Returns whether Go's own linker
/// made the object.
template <class ELFT, class Visit>
static bool visitDefinitions(const SymbolRange<ELFT> &range, bool hasFiles, Visit visit) {
  bool isGo = false;
  const ElfObject<ELFT> &object = *range.scan->object;
  std::array<CachedHashStringRef, 2> files = {CachedHashStringRef(range.scan->name),
                                              CachedHashStringRef(range.file)};
  for (uint32_t index = range.begin; index < range.end; ++index) {
    const auto &symbol = object.symbols()[index];
    uint8_t type = symbol.getType();
    if (type == ELF::STT_FILE) {
      files[1] = CachedHashStringRef(object.name(symbol));
      isGo |= files[1].val() == "go.go";
    }
    // Half of all symbols are references to elsewhere.
    if (type == ELF::STT_FILE || type == ELF::STT_SECTION || symbol.st_shndx == ELF::SHN_UNDEF)
      continue;
    bool mayAgree = hasFiles && symbol.getBinding() == ELF::STB_LOCAL;
    visit(index, ArrayRef(files).take_front(mayAgree ? files.size() : 0));
  }
  if (range.end - range.begin == symbolsAtATime)
    range.scan->input->letGo();
  return isGo;
}

/// Finds the symbols that the profile may mean, and what later steps need.
template <class ELFT>
static SymbolFinds lookUpSymbols(const SymbolRange<ELFT> &range, const WantedNames &wanted,
                                 NameFilter &dataNames) {
  const ProfileContents &contents = wanted.contents;
  const ObjectScan<ELFT> &scan = *range.scan;
  const ElfObject<ELFT> &object = *scan.object;
  SymbolFinds finds;
  if (contents.hasData)
    finds.hasDataSymbol.resize(object.sections().size());
  finds.isGo = visitDefinitions(range, contents.hasFiles, [&](uint32_t index, auto files) {
    const auto &symbol = object.symbols()[index];
    uint8_t type = symbol.getType();
    HashedName name(object.name(symbol));
    uint32_t section = object.sectionOf(symbol);
    bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
    finds.definesEnd |= !isLocal && name.text() == "_end";
    if (!isLocal && (name.text() == "data_start" || name.text() == "__data_start"))
      finds.dataStart = section;
    if (!isLocal && section && mayLabelCode(object, symbol, name.text(), section))
      finds.codeLabels.push_back({name.text(), section});
    // Nothing refers to a linked file by its names.
    if (!isLocal && section && !scan.input->isLinked) {
      uint32_t hash = name.whole().hash();
      (type == ELF::STT_FUNC ? finds.code : finds.data).push_back({hash, index});
      if (type != ELF::STT_FUNC)
        dataNames.add(hash);
    }
    if (contents.hasData && type == ELF::STT_OBJECT && section)
      finds.hasDataSymbol.set(section);
    if (isLocal && section && mayBeCold(name.suffixes()) && takeApart(name.text()).isCold)
      finds.coldParts.insert(section);
    wanted.names.find(name, files, [&](const NameTable::Match &found) {
      addMatch(found, scan, index, name.text(), wanted.profile, finds);
    });
  });
  return finds;
}

/// Finds the sections that the profile lists by section name, and notes unnamed ones.
template <class ELFT>
static void lookUpSections(ObjectScan<ELFT> &scan, const WantedNames &wanted) {
  const ElfObject<ELFT> &object = *scan.object;
  StringMap<uint32_t> entryOf;
  for (uint32_t entry : scan.sectionEntries)
    entryOf.try_emplace(wanted.profile.entries[entry].name, entry);
  for (uint32_t entry : scan.sectionEntries)
    if (std::string name = unmarkedName(wanted.profile.entries[entry].name); !name.empty())
      entryOf.try_emplace(name, entry);
  const bool hasOwned = wanted.contents.hasOwnedSections();
  for (auto [index, section] : enumerate(object.sections())) {
    if (wanted.notesUnnamed)
      noteUnnamed(scan, uint32_t(index), section);
    // A COMDAT section is as good as the recorded object's, and may be the one that is kept.
    constexpr uint64_t copy = ELF::SHF_GROUP | ELF::SHF_ALLOC;
    bool mayTell = hasOwned && (section.sh_flags & (copy | ELF::SHF_EXECINSTR)) == copy &&
                   mayTellOwner(object.nameBegin(section));
    if (!mayTell && entryOf.empty())
      continue;
    StringRef name = object.name(section);
    auto match = [&](uint32_t entry) {
      EntryMatch found{entry,
                       FindRank(Likeness::Exact, true, true, true),
                       {name, scan.number, /*isLocal=*/false}};
      if (auto sectionClass = object.classify(section))
        found.section = uint32_t(index), found.sectionClass = *sectionClass;
      else if (section.sh_flags & ELF::SHF_ALLOC)
        found.keptSection = uint32_t(index);
      else
        return;
      scan.matches.push_back(found);
    };
    auto matchAll = [&](StringRef called) {
      auto owned = mayTell ? wanted.contents.ownedSections(called) : ArrayRef<uint32_t>();
      auto own = owned.empty() ? entryOf.find(called) : entryOf.end();
      llvm::for_each(owned, match);
      if (own != entryOf.end())
        match(own->second);
      return !owned.empty() || own != entryOf.end();
    };
    if (matchAll(name))
      continue;
    if (std::string unmarked = unmarkedName(name); !unmarked.empty())
      matchAll(unmarked);
  }
}

/// Adds all symbols of an object: several ranges if there are many.
template <class ELFT>
static void addRanges(ObjectScan<ELFT> &scan, bool hasFiles,
                      std::vector<SymbolRange<ELFT>> &ranges) {
  auto symbols = scan.object->symbols();
  StringRef file;
  for (uint32_t begin = 0, end; begin < symbols.size(); begin = end) {
    end = uint32_t(std::min<size_t>(symbols.size(), size_t(begin) + symbolsAtATime));
    ranges.push_back({&scan, begin, end, file});
    if (!hasFiles || end == symbols.size() || symbols[end].getBinding() != ELF::STB_LOCAL)
      continue;
    auto mine = symbols.slice(begin, end - begin);
    auto last = std::find_if(mine.rbegin(), mine.rend(),
                             [](auto &symbol) { return symbol.getType() == ELF::STT_FILE; });
    if (last != mine.rend())
      file = scan.object->name(*last);
  }
}

/// Whether the symbols of an object are one range.
template <class ELFT> static bool isOneRange(const ObjectScan<ELFT> &scan) {
  size_t size = scan.object->symbols().size();
  return size && size <= symbolsAtATime;
}

/// Calls `find` for ranges of the symbols of all objects, adds the results, and calls `finish` for
/// each object: at once, if it can, while the names of its symbols and sections, which lie in one
/// table, are in the cache. One object may have most symbols, so threads share ranges, not objects.
template <class ELFT, class Find>
static void addFinds(ObjectScans<ELFT> &scans, bool hasFiles, Find find,
                     function_ref<void(ObjectScan<ELFT> &)> finish) {
  std::vector<SymbolRange<ELFT>> ranges;
  for (ObjectScan<ELFT> &scan : scans.all)
    if (scan.object)
      addRanges(scan, hasFiles, ranges);
  std::vector<SymbolFinds> later(ranges.size());
  shareWork(scans.numThreads, ranges.size(), [&](size_t i) {
    SymbolFinds finds = find(ranges[i]);
    if (ranges[i].begin == 0)
      ranges[i].scan->append(std::move(finds));
    else
      later[i] = std::move(finds);
    if (isOneRange(*ranges[i].scan))
      finish(*ranges[i].scan);
  });
  for (auto [range, finds] : zip(ranges, later))
    if (range.begin != 0)
      range.scan->append(std::exchange(finds, {}));
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    if (!isOneRange(scan))
      finish(scan);
  });
}

template <class ELFT>
void lookUp(ObjectScans<ELFT> &scans, const WantedNames &wanted, NameFilter &dataNames) {
  auto find = [&](const SymbolRange<ELFT> &range) {
    return lookUpSymbols(range, wanted, dataNames);
  };
  addFinds<ELFT>(scans, wanted.contents.hasFiles, find, [&](ObjectScan<ELFT> &scan) {
    keepLabelled(scan);
    if (wanted.notesUnnamed || !scan.sectionEntries.empty() || wanted.contents.hasOwnedSections())
      lookUpSections(scan, wanted);
  });
}

template <class ELFT> void lookUpStable(ObjectScans<ELFT> &scans, const WantedNames &wanted) {
  auto find = [&](const SymbolRange<ELFT> &range) {
    SymbolFinds finds;
    const ObjectScan<ELFT> &scan = *range.scan;
    visitDefinitions(range, wanted.contents.hasFiles, [&](uint32_t index, auto files) {
      StringRef name = scan.object->name(scan.object->symbols()[index]);
      wanted.names.findStable(name, files, [&](const NameTable::Match &found) {
        addMatch(found, scan, index, name, wanted.profile, finds);
      });
    });
    return finds;
  };
  addFinds<ELFT>(scans, wanted.contents.hasFiles, find, [](ObjectScan<ELFT> &) {});
}

#define INSTANTIATE(ELFT)                                                                          \
  template ObjectScans<ELFT> openObjects(ArrayRef<InputObject>, uint32_t, const ProfileContents &, \
                                         unsigned);                                                \
  template void lookUp(ObjectScans<ELFT> &, const WantedNames &, NameFilter &);                    \
  template void lookUpStable(ObjectScans<ELFT> &, const WantedNames &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
