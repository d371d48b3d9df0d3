//===- memory_file.h - a file in memory that other processes can open ------===//
//
// Files that ld.frontload and another linker hand to each other have no name: nothing is left of
// them however the processes end.
//
//===----------------------------------------------------------------------===//

#pragma once

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
  /// By this path any process of this user can open the file, as long as this object lives.
  std::string path() const;
  llvm::Expected<std::string> contents() const;

private:
  int file = -1;
};

} // namespace frontload
