// What a start reads without a front, at least.
//
// Nearly all large links have a front that is far better for certain, and to see that takes running
// sums. The others are tried start by start (front_estimate.h).
#pragma once

#include "plan/front_link.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <vector>

namespace frontload {

/// The windows of readahead that the sections which all runs touch lie in, in the file without a
/// front. If they are many, the front reads far less for certain, and no start need be tried.
class PlainWindows {
public:
  /// `names` are those of all sections that may be in the link, in the linker's order.
  PlainWindows(const FrontLink &link, llvm::ArrayRef<const char *> names);
  /// How many more bytes than the front they have at least, if they are many more; else 0. `isLive`
  /// says of the number of a name whether its section is in the link.
  uint64_t bytesSaved(llvm::function_ref<bool(uint32_t)> isLive) const;

private:
  struct Section {
    uint64_t size;
    uint32_t name;     ///< its number
    uint32_t output;   ///< the number of its output section
    uint8_t rights;    ///< of its segment
    uint8_t alignment; ///< its logarithm
    bool isRead;       ///< together with the front
  };
  std::vector<Section> sections; ///< by object
};

} // namespace frontload
