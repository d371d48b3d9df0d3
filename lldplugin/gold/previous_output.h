//===- previous_output.h - keeps what a failed link would remove -----------===//
//
// When gold gives up a link, it removes the file of its output's name, even if it has not written
// anything. A link that the plugin refuses shall leave the previous output where it is, so it is
// put aside until gold is done: gold ends by exit(), which comes back here.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_GOLD_PREVIOUS_OUTPUT_H
#define FRONTLOAD_LLDPLUGIN_GOLD_PREVIOUS_OUTPUT_H

#include "llvm/ADT/StringRef.h"

namespace frontload {

/// Keeps the file at `path`, if it is one: gold may remove or write it anew, and unless
/// forgetPreviousOutput is called, it is back when the process ends. May be called again.
void keepPreviousOutput(llvm::StringRef path);

/// The new output is good.
void forgetPreviousOutput();

} // namespace frontload

#endif
