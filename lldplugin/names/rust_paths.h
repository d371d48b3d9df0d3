//===- rust_paths.h - the stable part of a Rust name -----------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_NAMES_RUST_PATHS_H
#define FRONTLOAD_LLDPLUGIN_NAMES_RUST_PATHS_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// Whether a name is of Rust's v0 mangling (RFC 2603).
inline bool isRustV0(llvm::StringRef name) { return name.starts_with("_R"); }

/// A v0 name without the hashes of its crates, which are new in every build, and the numbers of
/// implementations, which change with others of their module: for comparison only.
std::string withoutCrateHashes(llvm::StringRef name);

} // namespace frontload

#endif
