// Finds code that the linker will fold.
//
// With --icf a linker keeps one of several identical functions, not necessarily the one that a
// profile names. So all functions that it folds with a startup function belong to the startup set:
// the one that is kept gets the place, and the others take none.
//
// --icf=safe folds only functions whose addresses do not matter. Compilers list the symbols with
// significant addresses in each object (.llvm_addrsig), and lld folds nothing of an object without
// a list.
//
// This guesses from each section alone what the linker will find identical: bytes and flags must be
// equal, and relocations as far as an object tells. If the linker does not fold two sections after
// all (they refer to local symbols that differ, or an address matters), both are placed, which
// costs the size of one: for clang with --icf=safe 8 KB of 10 MB.
#pragma once

#include "startup_set/matches.h"
#include "startup_set/object_scan.h"
#include "startup_set/search.h"

namespace frontload {

/// Adds a match and a place for all code that may be folded with the code of a match.
template <class ELFT>
void addIdenticalCode(ObjectScans<ELFT> &scans, Folding folding, std::vector<EntryPlace> &places);

} // namespace frontload
