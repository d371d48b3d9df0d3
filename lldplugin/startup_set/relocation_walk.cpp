// Follows the startup set's references.
#include "startup_set/relocation_walk.h"
#include "names/name_hashes.h"
#include "startup_set/front_worth.h"
#include "startup_set/hot_strings.h"
#include <array>

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The largest section, in bytes, that is in the front only because the front refers to it. Half of
/// the 128 KiB that the kernel reads around a fault by default: measured on cc1, 16 KiB costs 7
/// faults more and 1 MiB saves none.
static constexpr uint64_t maxReferredSize = 64 << 10;

/// The longest string that is gathered because the front refers to it, in bytes.
static constexpr uint64_t maxString = 16 << 10;

/// The lowest rank of the sections that refer to a name.
using RankOfName = DenseMap<CachedHashStringRef, uint32_t>;

/// Whether the profile has recorded a section, or could not have.
template <class ELFT>
bool RelocationWalk<ELFT>::isRecorded(const Scan &scan, uint32_t section, SectionClass c) const {
  const Shdr &header = scan.object->sections()[section];
  if (header.sh_flags & ELF::SHF_MERGE) // merged with those of other objects, and nameless
    return true;
  if (scan.hasDataSymbol.test(section))
    return false;
  StringRef name = scan.object->name(header);
  return !contents.hasSections || contents.hasOwnedSection(name, c);
}

/// The string at `offset` of a section of strings; none if it is very long.
template <class ELFT>
static std::optional<StringRef> stringAt(const ElfObject<ELFT> &object,
                                         const typename ELFT::Shdr &section, uint64_t offset) {
  StringRef text = object.contents(section);
  if (offset >= text.size())
    return std::nullopt;
  // Search near the offset: finding both ends of a string of megabytes each time takes hours.
  uint64_t dropped = offset > maxString ? offset - maxString : 0;
  text = text.substr(dropped, 2 * maxString);
  offset -= dropped;
  size_t before = text.rfind('\0', offset), end = text.find('\0', offset);
  if (end == StringRef::npos || (before == StringRef::npos && dropped))
    return std::nullopt;
  return text.slice(before + 1, end); // from 0 if there is none before it
}

/// Whether a string is a file's path: the kernel reads it, which no recorder sees.
static bool isPath(StringRef string) { return string.starts_with("/"); }

/// Whether a measured function that refers to a string may have read it. Strings that are not
/// gathered come with all others of their object, so an untouched string must not bring them.
template <class ELFT>
bool RelocationWalk<ELFT>::mayReadString(const Scan &scan, const Shdr &section,
                                         uint64_t offset) const {
  constexpr uint64_t strings = ELF::SHF_MERGE | ELF::SHF_STRINGS;
  // Profiles have no strings of wider characters.
  if (!contents.hasStrings || (section.sh_flags & strings) != strings || section.sh_entsize != 1)
    return true;
  std::optional<StringRef> string = stringAt(*scan.object, section, offset);
  return !string || isPath(*string) || contents.isRecordedString(*string);
}

/// Whether a large section of merged strings or constants is worth its place, with one more
/// reference from the startup set, at `offset`.
template <class ELFT>
bool RelocationWalk<ELFT>::isWorthMerging(Scan &scan, uint32_t section, uint64_t offset) {
  uint64_t size = scan.object->sections()[section].sh_size;
  auto &windows = scan.mergedWindows[section];
  windows.insert(std::min(offset, size) / windowBytes);
  return belongsToFront(size, static_cast<double>(windows.size()), /*share=*/1);
}

/// Notes a reference to `section`, at `offset`.
template <class ELFT>
void RelocationWalk<ELFT>::referTo(Scan &scan, uint32_t section, uint64_t offset, uint32_t rank) {
  const Shdr &header = scan.object->sections()[section];
  if ((header.sh_flags & ELF::SHF_EXECINSTR) || scan.named.count(section))
    return;
  bool isMerged = header.sh_flags & ELF::SHF_MERGE;
  if (isMerged && gathersStrings && isStringSection(scan.object->name(header)))
    return;
  // The strings of an object are one section, and are merged with those of all others.
  bool isLarge = header.sh_size > maxReferredSize;
  if ((isLarge && !isMerged) || costlyPadding(header.sh_addralign))
    return;
  auto sectionClass = scan.object->classify(header);
  if (!sectionClass)
    return;
  bool isTouched = isRecorded(scan, section, *sectionClass) && mayReadString(scan, header, offset);
  if (isMeasured(rank) && !isTouched)
    return;
  if (isLarge && !isWorthMerging(scan, section, offset))
    return;
  if (lower(scan.referred, section, Place{rank, *sectionClass})) {
    scan.next.erase(section);
    scan.frontier.push_back({rank, section});
  }
}

/// Notes the string at `offset` of a section of gathered strings. If the profile has strings, a
/// measured function adds only file paths.
template <class ELFT>
void RelocationWalk<ELFT>::referToString(Scan &scan, const Shdr &section, uint64_t offset,
                                         uint32_t rank) {
  std::optional<StringRef> string = stringAt(*scan.object, section, offset);
  if (string && (!contents.hasStrings || !isMeasured(rank) || isPath(*string)))
    scan.strings.push_back(*string);
}

/// Follows the relocations of the sections in the frontier. Targets in the same object become the
/// new frontier, targets by name go to `wanted`.
template <class ELFT> void RelocationWalk<ELFT>::followIn(Scan &scan) {
  if (scan.frontier.empty())
    return;
  const ElfObject<ELFT> &object = *scan.object;
  auto origins = std::exchange(scan.frontier, {});
  // In ascending rank, so that the first reference to a symbol is the one that counts.
  llvm::sort(origins);
  // A reference from a measured function may be dropped, so one from another function is looked at
  // again.
  std::array<BitVector, 2> seenBy;
  seenBy.fill(BitVector(object.symbols().size()));
  object.forEachRelocationsOf(origins, [&](auto relocations, uint32_t rank) {
    BitVector &seen = seenBy[isMeasured(rank)];
    object.forEachTarget(relocations, [&](uint32_t index, int64_t addend) {
      const auto &symbol = object.symbols()[index];
      bool isSection = symbol.getType() == ELF::STT_SECTION;
      if (seen.test(index) && !isSection)
        return;
      seen.set(index);
      if (symbol.getType() == ELF::STT_FUNC)
        return;
      if (symbol.getBinding() == ELF::STB_LOCAL) {
        uint32_t section = object.sectionOf(symbol);
        if (!section)
          return;
        const Shdr &header = object.sections()[section];
        uint64_t offset = isSection ? uint64_t(addend) : uint64_t(symbol.st_value);
        if (gathersStrings && isStringSection(object.name(header)))
          referToString(scan, header, offset, rank);
        referTo(scan, section, offset, rank);
        return;
      }
      CachedHashStringRef name = hashName(object.name(symbol));
      if (dataNames.mayContain(name.hash()))
        scan.wanted.push_back({name, rank});
    });
  });
}

template <class ELFT> void RelocationWalk<ELFT>::step() {
  scans.forEach([&](Scan &scan) { followIn(scan); });
  std::array<RankOfName, 2> wantedBy;
  NameFilter wantedNames(1 << 18);
  for (Scan &scan : scans.all) {
    for (auto [name, rank] : scan.wanted) {
      wantedNames.add(name.hash());
      lower(wantedBy[isMeasured(rank)], name, rank);
    }
    scan.wanted.clear();
  }
  scans.forEach([&](Scan &scan) {
    for (GlobalSymbol global : scan.data) {
      if (!wantedNames.mayContain(global.hash))
        continue;
      const auto &symbol = scan.object->symbols()[global.index];
      CachedHashStringRef name(scan.object->name(symbol), global.hash);
      for (const RankOfName &wanted : wantedBy)
        if (auto it = wanted.find(name); it != wanted.end())
          referTo(scan, scan.object->sectionOf(symbol), /*offset=*/0, it->second);
    }
  });
}

#define INSTANTIATE(ELFT) template class RelocationWalk<ELFT>;
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
