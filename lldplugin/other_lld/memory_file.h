//===- memory_file.h - a file in memory that other processes can open ------===//
//
// What ld.frontload hands to another linker, and what that one writes for it, are files without a
// name: nothing is left of them however the processes end.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OTHER_LLD_MEMORY_FILE_H
#define FRONTLOAD_LLDPLUGIN_OTHER_LLD_MEMORY_FILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <utility>

namespace frontload {

class MemoryFile {
public:
  MemoryFile() = default;
  MemoryFile(MemoryFile &&other) : file(std::exchange(other.file, -1)) {}
  MemoryFile &operator=(MemoryFile &&other) {
    std::swap(file, other.file);
    return *this;
  }
  ~MemoryFile();

  static llvm::Expected<MemoryFile> make(llvm::StringRef contents);

  int descriptor() const { return file; }
  /// By which any process of this user can open it, as long as this one has it.
  std::string path() const;
  llvm::Expected<std::string> contents() const;

private:
  int file = -1;
};

} // namespace frontload

#endif
