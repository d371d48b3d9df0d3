// Which of the words is the compiler.
//
// frontload-cc stands before compilers of any name and version, or before other launchers. If a
// caller can name only one program, frontload-cc stands alone.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace frontload {

enum class Family {
  Gcc,
  Clang,
  Either, ///< named cc or the like: gets only flags of both
  Unknown,
};

struct Compiler {
  size_t index = 0; ///< of the compiler; before it are launchers
  Family family = Family::Unknown;
};

/// Finds the compiler at the beginning of `words`.
Compiler findCompiler(llvm::ArrayRef<const char *> words);

/// Whether `word` cannot be a program: an option, a response file or an input. rustc and Go's
/// linker pass these alone, to the one program that they are told to link with.
bool isArgument(llvm::StringRef word);

/// Whether `program`, as a shell would find it, is frontload-cc.
bool isOurselves(llvm::StringRef program);

} // namespace frontload
