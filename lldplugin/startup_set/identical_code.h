//===- identical_code.h - tells code that the linker will fold -------------===//
//
// With --icf a linker keeps one of several identical functions, and which one it keeps has nothing
// to do with which one a profile names. So all that may be folded with a startup function belong to
// the startup set: the one that is kept gets its place, the others take none.
//
// What the linker will find identical is guessed from each section by itself: bytes and flags must
// be equal, and relocations as far as an object tells. Two sections that it will not fold after all
// (they refer to local symbols that differ) are both placed, which costs the size of one.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_IDENTICAL_CODE_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_IDENTICAL_CODE_H

#include "startup_set/matches.h"

namespace frontload {

/// Adds a match wherever there is code that may be folded with that of a match, and its place.
template <class ELFT>
void addIdenticalCode(ObjectScans<ELFT> &scans, std::vector<EntryPlace> &places);

} // namespace frontload

#endif
