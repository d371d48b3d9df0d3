//===- namesakes.h - how many sections have one name -----------------------===//
//
// A linker that places sections by name also places their namesakes. Copies of one COMDAT group are
// not namesakes: only one of them is linked.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_RESOLVE_NAMESAKES_H
#define FRONTLOAD_TOOLS_RESOLVE_NAMESAKES_H

#include "startup_set/input_object.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

namespace frontload {

/// The loaded sections of one name, outside of groups, in all objects.
struct Namesakes {
  uint32_t count = 0;
  uint64_t size = 0; ///< of all together
};

llvm::StringMap<Namesakes> countNamesakes(llvm::ArrayRef<InputObject> objects);

} // namespace frontload

#endif
