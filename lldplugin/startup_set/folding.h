//===- folding.h - whether a linker folds identical functions --------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_FOLDING_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_FOLDING_H

#include <cstdint>

namespace frontload {

/// Which of identical functions a linker folds.
enum class Folding : uint8_t {
  None,
  /// Those that lists say nothing against.
  Listed,
  /// The same, of what other modules do not see.
  ListedAndHidden,
  All,
};

} // namespace frontload

#endif
