// Sections that no profile names.
#include "startup_set/unnamed_sections.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

/// The size of a section with its padding, if that is costly.
static uint64_t paddedSize(const auto &section) {
  return section.sh_size + costlyPadding(section.sh_addralign);
}

/// Notes the unnamed sections of .data.rel.ro that are worth a place because the loader writes to
/// them in ObjectScan::relocatedRelro, and the size of all others in ObjectScan::idleRelro.
template <class ELFT> static void lookAtRelro(ObjectScan<ELFT> &scan, ArrayRef<uint32_t> unnamed) {
  const ElfObject<ELFT> &object = *scan.object;
  for (uint32_t index : unnamed)
    scan.idleRelro += paddedSize(object.sections()[index]);
  forEachRelocated(object, unnamed, [&](uint32_t index, double windows) {
    const auto &section = object.sections()[index];
    if (!belongsToFront(section.sh_size, windows, 1) || costlyPadding(section.sh_addralign))
      return;
    scan.relocatedRelro.push_back(index);
    scan.idleRelro -= section.sh_size;
  });
}

template <class ELFT>
static void addUnnamedDataOf(ObjectScan<ELFT> &scan, uint32_t rank, bool isRelocated) {
  const ElfObject<ELFT> &object = *scan.object;
  SmallVector<uint32_t, 0> unnamed, relro;
  for (uint32_t index : scan.writable) {
    if (scan.named.count(index))
      continue;
    std::optional<SectionClass> c = object.classify(object.sections()[index]);
    if (c == SectionClass::Data)
      unnamed.push_back(index);
    else if (c == SectionClass::Relro && isRelocated && !scan.next.count(index))
      relro.push_back(index);
  }
  if (!relro.empty())
    lookAtRelro(scan, relro);
  if (unnamed.empty())
    return;
  if (isRelocated)
    forEachRelocated(object, unnamed, [&](uint32_t index, double windows) {
      if (const auto &section = object.sections()[index];
          belongsToFront(section.sh_size, windows, 1) && !costlyPadding(section.sh_addralign))
        scan.referred.try_emplace(index, Place{rank, SectionClass::Data});
    });
  // Conservative garbage collectors scan from data_start, which the start files of the C library
  // define, to _end.
  if (is_contained(unnamed, scan.dataStart))
    scan.referred[scan.dataStart] = Place{0, SectionClass::Data};
}

/// Up to this size, the part that relocation leaves alone is not worth a pattern of the linker's
/// script, which costs a hundredth of the link: a window.
static constexpr uint64_t maxIdle = windowBytes;

template <class ELFT>
bool addUnnamedData(ObjectScans<ELFT> &scans, uint32_t rank, bool isRelocated) {
  scans.forEach([&](ObjectScan<ELFT> &scan) { addUnnamedDataOf(scan, rank, isRelocated); });
  uint64_t idle = 0;
  for (const ObjectScan<ELFT> &scan : scans.all) {
    idle += scan.idleRelro;
    for (const auto &[index, place] : scan.next)
      if (place.sectionClass == SectionClass::Relro)
        idle += paddedSize(scan.object->sections()[index]);
  }
  if (idle <= maxIdle)
    return false;
  scans.forEach([&](ObjectScan<ELFT> &scan) {
    for (uint32_t index : scan.relocatedRelro)
      scan.referred[index] = Place{rank, SectionClass::Relro};
  });
  return true;
}

/// Whether a linker or the loader gives sections with this name a place of their own, or needs them
/// near others.
static bool hasItsPlace(StringRef name, uint64_t flags) {
  // Small data of RISC-V, MIPS and PowerPC lies near its base register.
  static constexpr StringLiteral stems[] = {
      ".init",    ".fini",   ".ctors", ".dtors",  ".jcr",    ".eh_frame",  ".gcc_except_table",
      ".tdata",   ".sdata",  ".sbss",  ".toc",    ".tocbss", ".got",       ".plt",
      ".opd",     ".lit4",   ".lit8",  ".srdata", ".ARM",    ".branch_lt", ".interp",
      ".dynamic", ".openbsd"};
  // SHF_MIPS_GPREL is no help: it has the value of SHF_X86_64_LARGE.
  if (flags & (ELF::SHF_TLS | ELF::SHF_LINK_ORDER | ELF::SHF_EXCLUDE))
    return true;
  return any_of(stems, [&](StringRef stem) { return hasStem(name, stem); });
}

/// Whether a section has a usual name, by its first 8 bytes.
static bool isUsual(StringRef begin) {
  return begin.starts_with(".text.") || begin.starts_with(".rodata.") ||
         begin.starts_with(".data.") || begin.starts_with(".bss.");
}

template <class ELFT>
void noteUnnamed(ObjectScan<ELFT> &scan, uint32_t index, const typename ELFT::Shdr &section) {
  constexpr uint64_t kinds = ELF::SHF_ALLOC | ELF::SHF_WRITE | ELF::SHF_EXECINSTR | ELF::SHF_TLS;
  bool isInFile = section.sh_type == ELF::SHT_PROGBITS;
  if (!(section.sh_flags & ELF::SHF_ALLOC) || !section.sh_size ||
      (!isInFile && section.sh_type != ELF::SHT_NOBITS))
    return;
  if (!isUsual(scan.object->nameBegin(section)))
    scan.unusual.push_back(index);
  if (isInFile && (section.sh_flags & kinds) == (ELF::SHF_ALLOC | ELF::SHF_WRITE))
    scan.writable.push_back(index);
}

/// The output section that a linker makes of large data: .ldata.x goes to .ldata.
static StringRef outputNameOf(StringRef name) {
  for (StringRef stem : {".ldata", ".lrodata", ".lbss", ".ltext"})
    if (hasStem(name, stem))
      return name.take_front(stem.size());
  return name;
}

template <class ELFT>
static OtherOutputs findOthersIn(const ObjectScan<ELFT> &scan, bool isRelocated) {
  const ElfObject<ELFT> &object = *scan.object;
  OtherOutputs result;
  SmallVector<uint32_t, 0> found;
  for (uint32_t index : scan.unusual) {
    const auto &section = object.sections()[index];
    StringRef name = object.name(section);
    if (object.keepsPlace(index) || object.classify(section) || hasItsPlace(name, section.sh_flags))
      continue;
    // Go's runtime expects its sections in the order of Go's own linker. Code that writes to itself
    // must not lie beside other sections.
    constexpr uint64_t both = ELF::SHF_WRITE | ELF::SHF_EXECINSTR;
    OtherOutput own{paddedSize(section), section.sh_flags, section.sh_type == ELF::SHT_NOBITS,
                    scan.isGo || (section.sh_flags & both) == both,
                    scan.touchedOthers.lookup(index)};
    result[outputNameOf(name)] += own;
    found.push_back(index);
  }
  if (isRelocated && !found.empty())
    forEachRelocated(object, found, [&](uint32_t index, double windows) {
      const auto &section = object.sections()[index];
      if (section.sh_flags & ELF::SHF_WRITE)
        result[outputNameOf(object.name(section))].windows += windows;
    });
  return result;
}

template <class ELFT> OtherOutputs findOtherOutputs(ObjectScans<ELFT> &scans, bool isRelocated) {
  std::vector<OtherOutputs> found(scans.all.size());
  shareWork(scans.numThreads, scans.all.size(), [&](size_t i) {
    if (scans.all[i].object)
      found[i] = findOthersIn(scans.all[i], isRelocated);
  });
  OtherOutputs result;
  for (const OtherOutputs &some : found)
    for (const auto &[name, output] : some)
      result[name] += output;
  return result;
}

#define INSTANTIATE(ELFT)                                                                          \
  template void noteUnnamed(ObjectScan<ELFT> &, uint32_t, const typename ELFT::Shdr &);            \
  template bool addUnnamedData(ObjectScans<ELFT> &, uint32_t, bool);                               \
  template OtherOutputs findOtherOutputs(ObjectScans<ELFT> &, bool);
FRONTLOAD_FOR_EACH_ELF_TYPE(INSTANTIATE)
#undef INSTANTIATE

} // namespace frontload
