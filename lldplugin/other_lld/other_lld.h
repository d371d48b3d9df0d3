//===- other_lld.h - a link by an lld that knows nothing of fronts ---------===//
//
// With --lld=PATH, the embedded lld only reads the command line and the inputs, and plans the
// front. Then PATH links, with a linker script for input, and with a library preloaded into it that
// shows it the marked names that this script refers to (link_plan.h, interposer/). PATH writes its
// output beside the wanted one, and its messages and files get the names back.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "other_lld/link_plan.h"
#include "other_lld/lld_program.h"
#include "program/staged_files.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace frontload {

/// What a link by another lld needs to know of the command line.
struct OtherLink {
  LldProgram program;
  std::vector<std::string> args; ///< lld's, without the program's name
  std::string output;
  std::string map;                      ///< of -Map; empty if there is none
  bool printsMap = false;               ///< --print-map, which counts more
  std::string dependencyFile;           ///< of --dependency-file
  std::string removedFile;              ///< of --print-gc-sections
  std::optional<std::string> timeTrace; ///< of --time-trace; empty if it has no name
  bool printsReferences = false;        ///< --cref: behind a map, or alone
  bool needsMap = false;                ///< for a report
  bool opensLib = false;                ///< --start-lib without its --end-lib
};

/// Plans `link` for `inputs`, runs the linker, and tells `link` which sections it has placed. The
/// linker's files wait in `files`; `linked` becomes the path of the output there, empty if it is no
/// file. Reports errors, and returns the exit code.
int linkByOther(const OtherLink &other, const LinkInputs &inputs, FrontLink &link,
                StagedFiles &files, std::string &linked);

} // namespace frontload
