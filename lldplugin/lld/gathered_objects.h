//===- gathered_objects.h - objects in the order of the command line -------===//
//
// What decides where sections lie that nothing else tells apart is the order of the objects on the
// command line. lld may create objects in several threads (LLVM 23 does), so it is not the order in
// which they come.
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
  /// Takes note of an object and of what the linker makes of it. Threads may call it in parallel.
  void add(const void *file, InputObject object);

  /// Takes out all that were added: those in `files`, the linker's files in the order of the
  /// command line, in that order, and then the others, in the order in which they came.
  std::vector<InputObject> take(llvm::ArrayRef<const void *> files = {});

  /// Whether the last take() found none of its objects in its files: these are something else.
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
