//===- previous_output.h - keeps what a failed link would remove -----------===//
//
// When gold gives up a link, it removes the file with the output's name, even if it has not written
// anything. A link that the plugin refuses should leave the previous output where it is, so this
// puts it aside until gold is done: gold ends by exit(), which calls back here. Only then does the
// missing output show whether gold itself has failed, so a report also waits until then.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_GOLD_PREVIOUS_OUTPUT_H
#define FRONTLOAD_LLDPLUGIN_GOLD_PREVIOUS_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// Keeps the file or link at `path`, which gold may remove or overwrite. Unless the output is
/// accepted, the file is back when the process ends. May be called again.
void keepPreviousOutput(llvm::StringRef path);

/// Holds back the report for `path` until the output is accepted. Returns where to write the
/// report, which is `path` itself if that is no file.
std::string holdReport(llvm::StringRef path);

/// Accepts `output`, if it is there when gold ends.
void acceptOutput(llvm::StringRef output);

} // namespace frontload

#endif
