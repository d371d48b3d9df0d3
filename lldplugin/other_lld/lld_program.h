//===- lld_program.h - an lld other than the built-in one ------------------===//

#pragma once

#include "other_lld/link_plan.h"
#include <optional>
#include <string>
#include <vector>

namespace frontload {

struct LldProgram {
  std::string path;
  /// The arguments that make it an ELF linker: none for an ld.lld. lld looks for them before it
  /// reads response files.
  std::vector<std::string> flavor;
  unsigned version = 0; ///< of LLVM, the major one
  /// Its hash of strings, if a shared library has the function, so that another library can
  /// interpose it; else null.
  StringHash hash = nullptr;
};

/// Finds the program `name`, a path or to be looked up in PATH, and makes sure that it is an lld
/// that can be driven; says why not.
std::optional<LldProgram> findLld(const std::string &name);

} // namespace frontload
