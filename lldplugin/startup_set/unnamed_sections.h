// Sections that no profile names.
//
// A front must not contain untouched data: a table of 40 MB that a run touches at one end, the 60
// MB of a section with a name of its own. No profile names such sections, so this looks at every
// section of the link. Writable data belongs in the front if the loader relocates it, or if the
// front refers to it and it is small. Sections with names of their own, which a linker keeps
// together, belong in it as a whole or not at all.
#pragma once

#include "startup_set/front_worth.h"
#include "startup_set/object_scan.h"
#include "startup_set/search.h"

namespace frontload {

/// Notes a section in ObjectScan::unusual and ObjectScan::writable if later steps need it. Links
/// have many sections, so only the first step goes through all of them.
template <class ELFT>
void noteUnnamed(ObjectScan<ELFT> &scan, uint32_t index, const typename ELFT::Shdr &section);

/// The number of windows of a section that the loader writes to for its `relocations`.
template <class ELFT>
double relocatedWindows(const ElfObject<ELFT> &object, const typename ELFT::Shdr &section,
                        typename ElfObject<ELFT>::Tables relocations) {
  if (section.sh_size <= windowBytes) // as nearly all are
    return llvm::any_of(relocations, [](const auto *table) { return table->sh_size > 0; });
  // Compilers write relocations in ascending order; in another order, a window may count twice.
  uint64_t windows = 0, last = UINT64_MAX;
  object.forEachRelocation(relocations, [&](const auto &relocation) {
    uint64_t offset = relocation.r_offset;
    windows += offset / windowBytes != last;
    last = offset / windowBytes;
  });
  return double(std::min<uint64_t>(windows, (section.sh_size + windowBytes - 1) / windowBytes));
}

/// Calls `visit(index, windows)` for each of the sections, by index, that has relocations, with the
/// number of its windows that the loader writes to.
template <class ELFT, class Visit>
void forEachRelocated(const ElfObject<ELFT> &object, llvm::ArrayRef<uint32_t> sections,
                      Visit visit) {
  llvm::SmallVector<std::pair<uint32_t, uint32_t>, 0> origins;
  for (uint32_t index : sections)
    origins.push_back({index, index}); // visit() gets the first
  object.forEachRelocationsOf(origins, [&](auto relocations, uint32_t index) {
    visit(index, relocatedWindows(object, object.sections()[index], relocations));
  });
}

/// Adds the noted writable data that startup touches, although no entry names it, to
/// ObjectScan::referred, with `rank` if nothing in the front refers to it. With `isRelocated`, the
/// loader adjusts the pointers in data (PIE, shared library). Returns whether it leaves enough of
/// .data.rel.ro alone to put the relocated part first; then that part is also added.
template <class ELFT>
bool addUnnamedData(ObjectScans<ELFT> &scans, uint32_t rank, bool isRelocated);

/// The noted sections with names of their own.
template <class ELFT> OtherOutputs findOtherOutputs(ObjectScans<ELFT> &scans, bool isRelocated);

} // namespace frontload
