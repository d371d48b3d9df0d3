// Where a link finds its libraries.
//
// A link names libraries as -lNAME. To see beforehand which file that is, this searches the folders
// of the command line, as linkers do. Libraries of ours lie beside our programs.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

/// The archive of the code that prefetches the front inside a program.
constexpr llvm::StringLiteral prefetchArchive = "libfrontload-prefetch.a";
/// What a program has of it, for -u: a constructor; and an IFUNC, which comes earlier, but musl
/// loads nothing that has one (instrument/prefetch/resolver.c).
inline std::vector<std::string> prefetchSymbols(bool isMusl) {
  if (isMusl)
    return {"frontload_prefetch_before_main"};
  return {"frontload_prefetch_before_main", "frontload_prefetch_at_start"};
}

/// Where a library of ours is: beside the folder that this program was built or installed to.
llvm::Expected<std::string> findOwnLibrary(llvm::StringRef name);

/// Whether two ELF files are for the same machine: class, byte order and e_machine.
bool isSameMachine(llvm::StringRef a, llvm::StringRef b);

struct LibrarySearch {
  std::string sysroot;
  std::vector<std::string> folders; ///< a leading = stands for the sysroot
  /// A path, or the value of an -l.
  struct Input {
    std::string name;
    bool isLibrary, isStatic;
  };
  std::vector<Input> inputs;
  bool isStatic = false;                 ///< -Bstatic, for the libraries that follow
  llvm::SmallVector<bool, 4> saved = {}; ///< by --push-state

  void addLibrary(llvm::StringRef name) { inputs.push_back({name.str(), true, isStatic}); }

  /// If `args[i]` is one of the linker's options for libraries, notes it, moves `i` to the last
  /// argument used, and returns true.
  bool take(llvm::ArrayRef<const char *> args, size_t &i);

  /// The path in the sysroot.
  std::string inSysroot(llvm::StringRef path) const;
  /// The first of these files in the folders, folder by folder; empty if there is none.
  std::string findFile(llvm::ArrayRef<std::string> names) const;
  /// The file of an input: of an -l a shared library before an archive, as lld takes it; empty if
  /// there is none.
  std::string fileOf(const Input &input) const;
};

} // namespace frontload
