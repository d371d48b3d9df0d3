//===- compiler_command.h - what a compiler is asked to do -----------------===//
//
// The command lines of gcc and clang are alike in all that matters here: whether something is
// compiled, whether something is linked, and what the linker is told.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_COMPILER_COMMAND_H
#define FRONTLOAD_TOOLS_CC_COMPILER_COMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace frontload {

struct CompilerCommand {
  /// Code is made of a source, so that flags for code have an effect.
  bool makesCode = false;
  bool isLink = false;
  /// A link of what exists in files or libraries, not a question to the linker.
  bool hasInputs = false;
  bool isRelocatable = false;
  bool isLto = false; ///< -flto
  std::string output = "a.out";
  /// What is neither a source nor an option: objects, archives, linker scripts.
  std::vector<std::string> files;
  std::vector<std::string> sources;
  std::vector<std::string> linkerArguments; ///< -Wl, -Xlinker, -T and -z, as the linker sees them
  std::string linker;                       ///< -fuse-ld
  std::string linkerPath;                   ///< --ld-path
  std::vector<std::string> programFolders;  ///< -B
  std::string target;                       ///< --target
};

/// Reads the arguments behind the compiler, with response files expanded.
CompilerCommand parseCompilerCommand(llvm::ArrayRef<const char *> args);

/// Whether a build system is trying out what it has, by a program that nobody will start.
bool isProbe(const CompilerCommand &command);

} // namespace frontload

#endif
