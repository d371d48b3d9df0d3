// Looks all symbols of a link up in a profile.
//
// The first step looks up every symbol of every object in the profile (names/), and notes the
// section that the symbol lies in. It notes the section, not the name, because the constructors C1
// and C2 are aliases of each other, and their section is named after only one of them.
#pragma once

#include "names/name_table.h"
#include "startup_set/input_object.h"
#include "startup_set/object_scan.h"
#include "startup_set/profile_contents.h"
#include "llvm/ADT/ArrayRef.h"

namespace frontload {

/// A profile, prepared for lookups.
struct WantedNames {
  const StartupProfile &profile;
  const ProfileContents &contents;
  const NameTable &names;
  bool notesUnnamed; ///< whether to note sections without an entry (unnamed_sections.h)
};

/// Opens the objects of this kind; the first is number `first` of the link.
template <class ELFT>
ObjectScans<ELFT> openObjects(llvm::ArrayRef<InputObject> objects, uint32_t first,
                              const ProfileContents &contents, unsigned numThreads);

/// Finds everything that the profile may mean: ObjectScan::matches. `dataNames` gets the names of
/// all data that objects may refer to.
template <class ELFT>
void lookUp(ObjectScans<ELFT> &scans, const WantedNames &wanted, NameFilter &dataNames);

/// Adds what only stable names find, for the entries of NameTable::prepareStable().
template <class ELFT> void lookUpStable(ObjectScans<ELFT> &scans, const WantedNames &wanted);

} // namespace frontload
