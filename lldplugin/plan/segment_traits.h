//===- segment_traits.h - how a command line has the file cut in segments --===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_SEGMENT_TRAITS_H
#define FRONTLOAD_LLDPLUGIN_PLAN_SEGMENT_TRAITS_H

#include <cstdint>

namespace frontload {

/// How lld cuts a file without a front into segments.
struct SegmentTraits {
  /// Which segments begin on a page of their own in the file: -z separate-code,
  /// -z separate-loadable-segments, or neither, its default.
  enum class Separation : uint8_t { None, Code, All } separation = Separation::None;
  /// Whether constants have a segment of their own; --no-rosegment puts them before the code.
  bool hasRosegment = true;
};

} // namespace frontload

#endif
