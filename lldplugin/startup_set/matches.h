//===- matches.h - which of the matches of a profile's names count ---------===//
//
// A name may be found many times (names/found_names.h says which of them are meant), and what is
// found may not be worth a place in the front (front_worth.h).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_MATCHES_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_MATCHES_H

#include "names/entry_groups.h"
#include "profile/startup_profile.h"
#include "startup_set/entry_place.h"
#include "startup_set/object_scan.h"
#include "startup_set/unnamed_sections.h"

namespace frontload {

/// Where a match of `scan` is.
template <class ELFT> EntryPlace placeOf(const ObjectScan<ELFT> &scan, const EntryMatch &m) {
  uint32_t section = m.section ? m.section : m.keptSection;
  const char *name = scan.object->nameBegin(scan.object->sections()[section]).data();
  return {m.entry, scan.number, section, m.symbolIndex, name, m.definition.symbol, m.offset};
}

/// Drops the matches that do not count, and those of what keeps its place, and takes note of where
/// they are in `places`.
template <class ELFT>
void settleMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile,
                   const EntryGroups &groups, FoundNames &found, EntryPlaces &places);

/// Turns the matches into sections of the front, or of what follows it.
/// `unnamed` tells whether writable data has to be worth its place, too.
///
/// What is large and sparsely touched is noted in ObjectScan::sparse.
template <class ELFT>
void placeMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile, UnnamedRule unnamed);

/// Leaves out of the front, of what is large and sparse, what would make it read much more than it
/// touches; to be called when all else of the front is known.
template <class ELFT> void leaveOutSparse(ObjectScans<ELFT> &scans, const StartupProfile &profile);

} // namespace frontload

#endif
