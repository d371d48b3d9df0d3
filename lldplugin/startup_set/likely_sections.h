// What other starts are likely to touch.
//
// A start that differs from the recorded ones first touches what these refer to: of the functions
// that a C++ compilation runs beyond the profile of a C one, 36% are called directly by the
// profile's functions, 83% within four steps. So each section that references lead to from the
// startup set gets a probability, and the most likely ones follow the front, as its *tail*.
#pragma once

#include "profile/startup_profile.h"
#include "startup_set/linked_names.h"
#include "startup_set/object_scan.h"

namespace frontload {

/// Finds the most likely sections, ObjectScan::tail, in falling order of probability per byte. All
/// others keep the order of the link, which has related functions together: all that startup can
/// reach, ordered like this, takes half as many faults again. Their ranks begin behind those of the
/// profile's entries. Only sections with `linked` names count, or all if that is empty. With
/// `isUntrained`, the startup set says nothing of how large a tail may be.
template <class ELFT>
void findLikely(ObjectScans<ELFT> &scans, const StartupProfile &profile,
                const NamesByObject &linked, bool isUntrained);

/// Notes the startup set of an object, where findLikely() begins: to be called before it gets data
/// that only the loader touches.
template <class ELFT> void noteStartup(ObjectScan<ELFT> &scan);

/// Adds the constructors of an object that is not lazy to ObjectScan::named: they run in each
/// start.
template <class ELFT> void addConstructors(ObjectScan<ELFT> &scan);

} // namespace frontload
