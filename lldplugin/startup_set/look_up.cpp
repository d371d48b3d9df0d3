// Looks all symbols of a link up in a profile.
#include "startup_set/look_up.h"
#include "startup_set/code_labels.h"
#include "startup_set/unnamed_sections.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

template <class ELFT>
ObjectScans<ELFT> openObjects(ArrayRef<InputObject> objects, uint32_t first,
                              const ProfileContents &contents, unsigned numThreads) {
  ObjectScans<ELFT> scans{std::vector<ObjectScan<ELFT>>(objects.size()), numThreads};
  shareWork(numThreads, objects.size(), [&](size_t i) {
    ObjectScan<ELFT> &scan = scans.all[i];
    scan.isLinked = objects[i].isLinked;
    scan.isLazy = objects[i].isLazy;
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

/// Notes that an entry may mean a symbol.
template <class ELFT>
static void addMatch(const NameTable::Match &found, ObjectScan<ELFT> &scan, uint32_t index,
                     StringRef name, const StartupProfile &profile) {
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
  scan.matches.push_back(match);
}

/// Calls `visit(index, files)` for each definition of an object. `files` are the names that entries
/// may give the file of a local symbol: the object, and the source.
template <class ELFT, class Visit>
static void visitDefinitions(ObjectScan<ELFT> &scan, bool hasFiles, Visit visit) {
  const ElfObject<ELFT> &object = *scan.object;
  std::array<CachedHashStringRef, 2> files = {CachedHashStringRef(scan.name),
                                              CachedHashStringRef("")};
  for (uint32_t index = 0; index < object.symbols().size(); ++index) {
    const auto &symbol = object.symbols()[index];
    uint8_t type = symbol.getType();
    if (type == ELF::STT_FILE) {
      files[1] = CachedHashStringRef(object.name(symbol));
      scan.isGo |= files[1].val() == "go.go";
    }
    // Half of all symbols are references to elsewhere.
    if (type == ELF::STT_FILE || type == ELF::STT_SECTION || symbol.st_shndx == ELF::SHN_UNDEF)
      continue;
    bool mayAgree = hasFiles && symbol.getBinding() == ELF::STB_LOCAL;
    visit(index, ArrayRef(files).take_front(mayAgree ? files.size() : 0));
  }
}

/// Finds the symbols that the profile may mean, and what later steps need.
template <class ELFT>
static void lookUpSymbols(ObjectScan<ELFT> &scan, const WantedNames &wanted,
                          NameFilter &dataNames) {
  const ProfileContents &contents = wanted.contents;
  const ElfObject<ELFT> &object = *scan.object;
  if (contents.hasData)
    scan.hasDataSymbol.resize(object.sections().size());
  visitDefinitions(scan, contents.hasFiles, [&](uint32_t index, auto files) {
    const auto &symbol = object.symbols()[index];
    uint8_t type = symbol.getType();
    HashedName name(object.name(symbol));
    uint32_t section = object.sectionOf(symbol);
    bool isLocal = symbol.getBinding() == ELF::STB_LOCAL;
    if (!isLocal && (name.text() == "data_start" || name.text() == "__data_start"))
      scan.dataStart = section;
    if (!isLocal && section && mayLabelCode(object, symbol, name.text(), section))
      scan.codeLabels.push_back({name.text(), section});
    // Nothing refers to a linked file by its names.
    if (!isLocal && section && !scan.isLinked) {
      uint32_t hash = name.whole().hash();
      (type == ELF::STT_FUNC ? scan.code : scan.data).push_back({hash, index});
      if (type != ELF::STT_FUNC)
        dataNames.add(hash);
    }
    if (contents.hasData && type == ELF::STT_OBJECT && section)
      scan.hasDataSymbol.set(section);
    if (isLocal && section && mayBeCold(name.suffixes()) && takeApart(name.text()).isCold)
      scan.coldParts.insert(section);
    wanted.names.find(name, files, [&](const NameTable::Match &found) {
      addMatch(found, scan, index, name.text(), wanted.profile);
    });
  });
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

template <class ELFT>
void lookUp(ObjectScans<ELFT> &scans, const WantedNames &wanted, NameFilter &dataNames) {
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    lookUpSymbols(scan, wanted, dataNames);
    keepLabelled(scan);
    if (wanted.notesUnnamed || !scan.sectionEntries.empty() || wanted.contents.hasOwnedSections())
      lookUpSections(scan, wanted);
  });
}

template <class ELFT> void lookUpStable(ObjectScans<ELFT> &scans, const WantedNames &wanted) {
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    visitDefinitions(scan, wanted.contents.hasFiles, [&](uint32_t index, auto files) {
      StringRef name = scan.object->name(scan.object->symbols()[index]);
      wanted.names.findStable(name, files, [&](const NameTable::Match &found) {
        addMatch(found, scan, index, name, wanted.profile);
      });
    });
  });
}

#define INSTANTIATE(ELFT)                                                                          \
  template ObjectScans<ELFT> openObjects(ArrayRef<InputObject>, uint32_t, const ProfileContents &, \
                                         unsigned);                                                \
  template void lookUp(ObjectScans<ELFT> &, const WantedNames &, NameFilter &);                    \
  template void lookUpStable(ObjectScans<ELFT> &, const WantedNames &);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
