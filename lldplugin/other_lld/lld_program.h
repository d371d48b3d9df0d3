//===- lld_program.h - an lld that somebody else has built -----------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OTHER_LLD_LLD_PROGRAM_H
#define FRONTLOAD_LLDPLUGIN_OTHER_LLD_LLD_PROGRAM_H

#include "other_lld/link_plan.h"
#include <optional>
#include <string>
#include <vector>

namespace frontload {

struct LldProgram {
  std::string path;
  /// What makes it an ELF linker: nothing for an ld.lld. It looks for that before it reads response
  /// files.
  std::vector<std::string> flavor;
  unsigned version = 0; ///< of LLVM, the major one
  /// How it hashes strings, if it does so by a function of a shared library, which another one can
  /// stand in front of; else null.
  StringHash hash = nullptr;
};

/// Finds the program `name`, a path or to be looked up in PATH, and makes sure that it is an lld
/// that can be driven; says why not.
std::optional<LldProgram> findLld(const std::string &name);

} // namespace frontload

#endif
