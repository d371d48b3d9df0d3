// The changing parts of C++ and Rust names.
//
// A compiler emits a C++ constructor up to three times, for complete objects and for bases, often
// as two names of one section. The optimizer decides which of them a program has. Rust's names have
// hashes of their crates, which are new in every build. libc++ puts its version and its mode into
// the ABI tags of all its inline functions. Without such parts a name is *stable*.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// The names of the other variants of a constructor or destructor (Itanium C++ ABI 5.1.4.3: C1 C2
/// C3, D0 D1 D2); none for anything else, and none for names of more than 4 KiB.
llvm::SmallVector<std::string, 4> otherVariants(llvm::StringRef name);

/// Whether a name is of Rust's v0 mangling (RFC 2603).
inline bool isRustV0(llvm::StringRef name) { return name.starts_with("_R"); }

/// A stem (name_parts.h) without the parts that change although the function stays, for comparison
/// only; the stem itself if it has none. These are
///
///   C++       ABI tags
///   Rust v0   hashes of crates, and numbers of implementations, which change with others of their
///             module
///   OCaml     the number at the end of each name (camlList__map_236)
///   Zig       numbers of instances and types without a name (main.add__anon_12)
///   Swift     the passes that specialized or merged a function (...Tf4dn_n, ...Tm)
std::string stableName(llvm::StringRef stem);

/// The length of the part of a name that its stable name also begins with; npos if the stem of the
/// name is stable for sure. Takes a few nanoseconds.
size_t stableBeginning(llvm::StringRef name);

} // namespace frontload
