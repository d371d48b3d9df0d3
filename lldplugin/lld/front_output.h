//===- front_output.h - what happens to a linked file with a front ---------===//
//
// Before it is let out it is checked, the end of its front is noted in it, and what was placed is
// reported.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_LLD_FRONT_OUTPUT_H
#define FRONTLOAD_LLDPLUGIN_LLD_FRONT_OUTPUT_H

#include "lld/link_options.h"
#include "plan/output_check.h"

namespace frontload {

/// Whether `path` is or will be a regular file, which can be checked and get its note, or is
/// /dev/null, where configure scripts link to.
bool isFileOrNull(llvm::StringRef path);

/// Checks the output in `path`, whose front it finds, and notes the front in it. Returns the exit
/// code; a bad output does not stay.
int finishOutput(const std::string &path, const LinkOptions &options, FrontLink &link,
                 std::optional<Front> &front);

/// Writes the report, if one is wanted. Returns the exit code.
int reportFront(const LinkOptions &options, const FrontLink &link, std::optional<Front> front);

} // namespace frontload

#endif
