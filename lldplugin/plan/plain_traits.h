//===- plain_traits.h - what a command line says of a file without a front ---===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_PLAIN_TRAITS_H
#define FRONTLOAD_LLDPLUGIN_PLAN_PLAIN_TRAITS_H

#include <cstdint>

namespace frontload {

/// How lld lays out a file without a front.
struct PlainTraits {
  /// Which segments begin on a page of their own in the file: -z separate-code,
  /// -z separate-loadable-segments, or neither, its default.
  enum class Separation : uint8_t { None, Code, All } separation = Separation::None;
  /// Whether constants have a segment of their own; --no-rosegment puts them before the code.
  bool hasRosegment = true;
  /// Whether each kind of code (.text.hot, .text.unlikely, ...) has an output section of its own:
  /// -z keep-text-section-prefix.
  bool keepsTextPrefix = false;
};

} // namespace frontload

#endif
