//===- gathered_objects.h - objects in the order of the command line -------===//
//
// Between sections that nothing else tells apart, the order of the objects on the command line
// decides. lld may create objects in another order, in several threads (LLVM 23 does).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_GATHERED_OBJECTS_H
#define FRONTLOAD_LLDPLUGIN_LLD_GATHERED_OBJECTS_H

#include "startup_set/input_object.h"
#include "llvm/ADT/ArrayRef.h"
#include <mutex>
#include <vector>

namespace frontload {

class GatheredObjects {
public:
  /// Takes note of an object and of the linker's `file` for it. Threads may call this in parallel.
  void add(const void *file, InputObject object);

  /// Takes out all objects: first those of `files`, the linker's files in the order of the command
  /// line, and then the others, in the order in which they were added.
  std::vector<InputObject> take(llvm::ArrayRef<const void *> files = {});

  /// Whether the last take() found none of the objects in `files`, which then are something else.
  bool hasFoundNone() const { return foundNone; }

private:
  struct Gathered {
    const void *file;
    InputObject object;
  };
  std::mutex mutex;
  std::vector<Gathered> gathered;
  bool foundNone = false;
};

} // namespace frontload

#endif
