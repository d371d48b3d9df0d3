//===- front_worth.h - which sections are worth a place in the front -------===//
//
// A profile may have large tables of which a few bytes were touched, and names that few runs
// touched. What costs more to read along than to fault in now and then does not belong to the front
// (io_model.h).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_FRONT_WORTH_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_FRONT_WORTH_H

#include <cstdint>

namespace frontload {

/// Whether a section of `size` bytes should be read with the front although only this `share` of
/// the runs touches it. `windows` is how many windows of it a run touches, on the average of all
/// runs.
bool belongsToFront(uint64_t size, double windows, double share);

} // namespace frontload

#endif
