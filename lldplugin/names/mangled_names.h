//===- mangled_names.h - the changing parts of C++ and Rust names ----------===//
//
// A compiler emits a C++ constructor up to three times, for complete objects and for bases, often
// as two names of one section. The optimizer decides which of them a program has. Rust's names have
// hashes of their crates, which are new in every build.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_MANGLED_NAMES_H
#define FRONTLOAD_LLDPLUGIN_NAMES_MANGLED_NAMES_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// The names of the other variants of a constructor or destructor (Itanium C++ ABI 5.1.4.3: C1 C2
/// C3, D0 D1 D2); none for anything else, and none for names of more than 4 KiB.
llvm::SmallVector<std::string, 4> otherVariants(llvm::StringRef name);

/// Whether a name is of Rust's v0 mangling (RFC 2603).
inline bool isRustV0(llvm::StringRef name) { return name.starts_with("_R"); }

/// A v0 name without the hashes of its crates, and the numbers of implementations, which change
/// with others of their module: for comparison only.
std::string withoutCrateHashes(llvm::StringRef name);

} // namespace frontload

#endif
