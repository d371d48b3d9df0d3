//===- next_sections.h - sections likely to be used next -------------------===//
//
// Beyond the startup set, a user's run first touches sections that the startup set refers to (by
// calls, and by its virtual tables). These sections follow the front, in the order of the link.
// Measured with cc1 trained on six compilations and run on another, which touches 312 functions
// that are not in the front: 123 faults and 36.8 MB; without, 128 and 38.5. Trained on one: 718 and
// 62.8 MB; without, 748 and 64.1. Without virtual tables, or in the order of callers, or with the
// callees of these sections, the result was a little worse.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_NEXT_SECTIONS_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_NEXT_SECTIONS_H

#include "profile/startup_profile.h"
#include "startup_set/object_scan.h"

namespace frontload {

/// Puts the functions that the front calls behind it: ObjectScan::next.
template <class ELFT> void placeCalls(ObjectScans<ELFT> &scans, const StartupProfile &profile);

} // namespace frontload

#endif
