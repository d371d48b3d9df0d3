// Which of the matches of a profile's names count.
//
// A name may have many matches (names/found_names.h decides which of them count), and a matched
// section may not be worth a place in the front (front_worth.h).
#pragma once

#include "profile/startup_profile.h"
#include "startup_set/object_scan.h"
#include "startup_set/search.h"
#include "startup_set/unnamed_sections.h"

namespace frontload {

/// Where a match of `scan` is.
template <class ELFT> EntryPlace placeOf(const ObjectScan<ELFT> &scan, const EntryMatch &m) {
  uint32_t section = m.section ? m.section : m.keptSection;
  const char *name = scan.object->nameBegin(scan.object->sections()[section]).data();
  return {m.entry, scan.number, section, m.symbolIndex, name, m.definition.symbol, m.offset};
}

/// Drops the matches that do not count, and those in sections that keep their place. `found` knows
/// all matches already, and `places` gets the place of each match that counts.
template <class ELFT>
void settleMatches(ObjectScans<ELFT> &scans, const StartupProfile &profile, FoundNames &found,
                   EntryPlaces &places);

/// Turns the matches of an object into sections of the front, or of the region behind it. `unnamed`
/// decides whether writable data has to be worth its place. Large, sparsely touched sections are
/// noted in ObjectScan::sparse.
template <class ELFT>
void placeMatches(ObjectScan<ELFT> &scan, const StartupProfile &profile, UnnamedRule unnamed);

/// Removes large sparse sections that would make the front read much more than it touches. To be
/// called when all other sections of the front are known.
template <class ELFT> void leaveOutSparse(ObjectScans<ELFT> &scans, const StartupProfile &profile);

} // namespace frontload
