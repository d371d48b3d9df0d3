//===- folding.h - whether a linker folds identical functions --------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_FOLDING_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_FOLDING_H

#include <cstdint>

namespace frontload {

/// Which of identical functions a linker folds.
enum class Folding : uint8_t {
  None,
  Listed,          ///< those that no .llvm_addrsig lists
  ListedAndHidden, ///< of these, those that other modules do not see
  All,
};

} // namespace frontload

#endif
