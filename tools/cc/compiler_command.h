// Parses a compiler's command line.
//
// The command lines of gcc and clang are alike in all that matters here: whether they compile,
// whether they link, and the linker's arguments.
#pragma once

#include "program/library_search.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>
#include <vector>

namespace frontload {

struct CompilerCommand {
  /// Whether a source becomes code, so that flags for code have an effect.
  bool makesCode = false;
  bool isLink = false;
  /// Whether there are files or libraries to link, not only a question to the linker.
  bool hasInputs = false;
  bool isRelocatable = false;
  bool isLto = false; ///< -flto
  std::string output = "a.out";
  /// Inputs of the linker: objects, archives, linker scripts.
  std::vector<std::string> files;
  std::vector<std::string> sources;
  LibrarySearch libraries;                  ///< -l and -L, and all that -Wl and -Xlinker may name
  std::vector<std::string> linkerArguments; ///< -Wl, -Xlinker, -T and -z, as the linker sees them
  std::string linker;                       ///< -fuse-ld
  std::string linkerPath;                   ///< --ld-path
  std::vector<std::string> programFolders;  ///< -B
  std::string target;                       ///< --target
  bool isShared = false;                    ///< -shared
  /// The words that decide which linker and which libraries of the system the compiler takes.
  std::vector<std::string> choices;
};

/// Reads the arguments behind the compiler, with response files expanded.
CompilerCommand parseCompilerCommand(llvm::ArrayRef<const char *> args);

/// Whether a build system only probes its tools, with a program that no user starts.
bool isProbe(const CompilerCommand &command);

} // namespace frontload
