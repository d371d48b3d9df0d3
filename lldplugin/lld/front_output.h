//===- front_output.h - what happens to a linked file with a front ---------===//
//
// Before a linked file takes its place, this checks it, writes the note of its front into it, and
// reports what was placed.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_FRONT_OUTPUT_H
#define FRONTLOAD_LLDPLUGIN_LLD_FRONT_OUTPUT_H

#include "lld/link_options.h"
#include "plan/front_estimate.h"
#include "plan/output_check.h"

namespace frontload {

/// Whether `path` is or will be a regular file, which can be checked and get its note, or is
/// /dev/null, where configure scripts link to.
bool isFileOrNull(llvm::StringRef path);

/// Checks the output in `bytes`, finds its front, and fills in the note. Returns the exit code.
int finishOutput(llvm::MutableArrayRef<char> bytes, const LinkOptions &options, FrontLink &link,
                 std::optional<Front> &front);
/// The same for the file at `path`, if it is a regular file.
int finishOutputFile(const std::string &path, const LinkOptions &options, FrontLink &link,
                     std::optional<Front> &front);

/// Writes the report, if one is wanted, to wait with the other files. Returns the exit code.
int stageReport(const LinkOptions &options, const FrontLink &link, std::optional<Front> front,
                llvm::ArrayRef<EstimatedStart> starts);
/// Puts all files of a link in their places. Returns the exit code; after a failure all files are
/// as they were.
int publish();
/// Does both.
int publishLink(const LinkOptions &options, const FrontLink &link, std::optional<Front> front,
                llvm::ArrayRef<EstimatedStart> starts = {});

} // namespace frontload

#endif
