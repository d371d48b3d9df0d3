// Which module an address of a process belongs to.
//
// Each version of valgrind tells in another form where it puts things. But the program's files are
// mapped in valgrind's own process, so the kernel can tell. A map holds what was true when it was
// read; process.h says when it is read again.
#ifndef FRONTLOAD_LACKEY_MEMORY_MAP_H
#define FRONTLOAD_LACKEY_MEMORY_MAP_H

#include "modules.h"

#include <sys/types.h>

namespace frontload {

/// A module in memory; its addresses are run-time addresses.
struct Mapping {
  const Module *module;
  uint64_t bias;

  uint64_t begin() const { return bias + module->memoryBegin; }
  uint64_t end() const { return bias + module->memoryEnd; }
};

/// A range of run-time addresses.
struct Region {
  uint64_t begin, end;
  const Module *module; // null: none, such as the heap
  bool isLoader;        // code here is the loader's

  bool contains(uint64_t address) const { return address - begin < end - begin; }
};

class MemoryMap {
public:
  /// Reads the map of a process. Keeps what was known before if it has ended, or executes something
  /// else by now.
  void read(pid_t process, Modules &modules);

  /// The region that holds an address, or null.
  const Region *find(uint64_t address) const;
  /// Makes a region of a page that the map does not have. Returns the region.
  const Region *addUnknownPage(uint64_t address);

  llvm::ArrayRef<Mapping> mappings() const { return mappingList; }

private:
  std::vector<Mapping> mappingList;
  std::vector<Region> regions; // in order, without overlaps
};

} // namespace frontload

#endif
