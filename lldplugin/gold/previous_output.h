//===- previous_output.h - keeps what a failed link would remove -----------===//
//
// When gold gives up a link, it removes the file with the output's name, even if it has not written
// anything. A link that the plugin refuses should leave the previous output where it is, so this
// puts it aside until gold is done: gold ends by exit(), which calls back here. Only then does the
// missing output show whether gold itself has failed, so a report waits for that, too.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_GOLD_PREVIOUS_OUTPUT_H
#define FRONTLOAD_LLDPLUGIN_GOLD_PREVIOUS_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

/// Keeps the file or link at `path`, if it is one: gold may remove or write it anew, and unless the
/// output is accepted, it is back when the process ends. May be called again.
void keepPreviousOutput(llvm::StringRef path);

/// Has the report that is wanted at `path` wait: it is put there if the output is accepted. Returns
/// where to write it until then; what is no file cannot wait, and is its own place.
std::string holdReport(llvm::StringRef path);

/// The plugin has nothing against `output`; it is accepted if gold leaves it there.
void acceptOutput(llvm::StringRef output);

} // namespace frontload

#endif
