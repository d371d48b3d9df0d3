// The headers of an ELF file: its identity, and the place of its bytes in memory.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace frontload {

/// How much of a file may still be read, which bounds the time that a damaged file takes: counts
/// the parts of one kind. In an honest file these do not overlap; a damaged file
/// may claim that each is as large as the file.
class BytesLeft {
public:
  explicit BytesLeft(uint64_t fileSize) : bytes(fileSize) {}
  uint64_t count() const { return bytes; }
  bool take(uint64_t size) {
    if (size > bytes)
      return false;
    bytes -= size;
    return true;
  }

private:
  uint64_t bytes;
};

/// The entries of the dynamic section before its end, as far as they are in the file. (The function
/// of this name in LLVM trusts the header that it follows.)
llvm::ArrayRef<llvm::object::ELF64LE::Dyn>
dynamicEntries(const llvm::object::ELFFile<llvm::object::ELF64LE> &elf);

/// All addresses are as in the file: the run-time address minus the load bias.
class ProgramFile {
public:
  /// `file` is untrusted. A file for another machine is an error.
  static llvm::Expected<ProgramFile> read(llvm::MemoryBufferRef file);

  /// Whether --module=name means this file: by path, file name or soname; libfoo and libfoo.so also
  /// name libfoo.so.1.
  bool isNamed(llvm::StringRef name) const;

  /// The load bias if `size` bytes of this file, from file offset `offset` on, are mapped at
  /// `address`; nothing if no segment of code has bytes there. `isMapped` tells whether the file is
  /// mapped already with a bias: then this is another segment of it.
  std::optional<uint64_t> loadBias(uint64_t address, uint64_t size, uint64_t offset,
                                   llvm::function_ref<bool(uint64_t)> isMapped) const;

  /// A shared object that was not linked as a program and has no interpreter: if it is executed, it
  /// is a dynamic loader.
  bool isLoader() const { return isLibrary && interpreter.empty(); }

  std::string path;
  llvm::SmallVector<uint8_t, 20> buildId;
  std::string soname;
  std::string interpreter;
  bool isLibrary = false;
  uint64_t entry = 0;
  /// The memory that its segments cover.
  uint64_t memoryBegin = 0, memoryEnd = 0;

private:
  struct CodeSegment {
    uint64_t offset, fileSize, address;
  };

  llvm::SmallVector<CodeSegment, 1> codeSegments;
};

/// Whether a program gets rights that its caller lacks: recorders cannot give it these.
bool hasOwnRights(const char *path);

} // namespace frontload
