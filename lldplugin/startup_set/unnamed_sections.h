//===- unnamed_sections.h - what of a link no profile names ----------------===//
//
// A front must not hold what startup leaves alone: a table of 40 MB that a run touches at one end,
// the 60 MB of a section with a name of its own. Nobody names them, so this looks at every section
// of the link. Writable data belongs to the front if the loader relocates it, or if something in
// the front refers to it and it is small. Sections with names of their own, which a linker keeps
// together under that name, belong to it as a whole or not at all.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_UNNAMED_SECTIONS_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_UNNAMED_SECTIONS_H

#include "startup_set/front_worth.h"
#include "startup_set/object_scan.h"
#include "startup_set/other_outputs.h"

namespace frontload {

/// Notes in ObjectScan::unusual and ObjectScan::writable whether a section is what the rest of this
/// looks at. Links have so many sections that only the first step should go through all of them.
template <class ELFT>
void noteUnnamed(ObjectScan<ELFT> &scan, uint32_t index, const typename ELFT::Shdr &section);

/// How many windows of a section the loader writes to, if it relocates it by `relocations`.
template <class ELFT>
double relocatedWindows(const ElfObject<ELFT> &object, const typename ELFT::Shdr &section,
                        const typename ELFT::Shdr &relocations) {
  if (section.sh_size <= windowBytes) // as nearly all are
    return relocations.sh_size > 0;
  // They ascend, as compilers write them; where they do not, this counts a window twice.
  uint64_t windows = 0, last = UINT64_MAX;
  object.forEachRelocatedPlace(relocations, [&](uint64_t offset) {
    windows += offset / windowBytes != last;
    last = offset / windowBytes;
  });
  return double(std::min<uint64_t>(windows, (section.sh_size + windowBytes - 1) / windowBytes));
}

/// Calls `visit(index, relocations)` for each of the sections, by their indices, that has some.
template <class ELFT, class Visit>
void forEachRelocated(const ElfObject<ELFT> &object, llvm::ArrayRef<uint32_t> sections,
                      Visit visit) {
  llvm::SmallVector<std::pair<uint32_t, uint32_t>, 0> origins;
  for (uint32_t index : sections)
    origins.push_back({index, index}); // what is handed back is the first
  object.forEachRelocationsOf(
      origins, [&](const auto &relocations, uint32_t index) { visit(index, relocations); });
}

/// Adds the writable data of a link, as noted, that its start touches without being named to
/// ObjectScan::referred, with `rank` if nothing in the front refers to it. With `isRelocated`, the
/// loader adjusts the pointers in data (PIE, shared library). Returns whether it leaves so much of
/// .data.rel.ro alone that what it does not should be put first; then that is added as well.
template <class ELFT>
bool addUnnamedData(ObjectScans<ELFT> &scans, uint32_t rank, bool isRelocated);

/// The sections with names of their own, of those that were noted.
template <class ELFT> OtherOutputs findOtherOutputs(ObjectScans<ELFT> &scans, bool isRelocated);

} // namespace frontload

#endif
