// An object as a linker hands it over.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/Path.h"
#include <string>

namespace frontload {

/// An input object of a link.
struct InputObject {
  llvm::MemoryBufferRef buffer;
  llvm::StringRef archive; ///< the path of the archive it is a member of, else empty
  bool isLazy = false;     ///< whether it is linked only if needed
  bool isLinked = false;   ///< whether it is a program or shared library
  /// The name in profiles: the base name of its file, or `base name of archive(member)`.
  std::string name() const {
    llvm::StringRef file = llvm::sys::path::filename(buffer.getBufferIdentifier());
    if (archive.empty())
      return file.str();
    return (llvm::sys::path::filename(archive) + "(" + file + ")").str();
  }
  bool isElf() const { return buffer.getBuffer().starts_with(llvm::ELF::ElfMagic); }
};

} // namespace frontload
