//===- link_log.h - writes down which links a build does -------------------===//
//
// `frontload auto` links programs again with the arguments of this log.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_CC_LINK_LOG_H
#define FRONTLOAD_TOOLS_CC_LINK_LOG_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace frontload {

/// The line for a link of `output` by `arguments`, in `directory`: a JSON object with the members
/// of an entry of compile_commands.json. Bytes that are not UTF-8 stay unchanged, as there.
std::string linkLogLine(llvm::StringRef directory, llvm::ArrayRef<const char *> arguments,
                        llvm::StringRef output);

/// Appends `line` to the file at `path`, whole, whatever other processes append at the same time.
llvm::Error appendLine(const std::string &path, llvm::StringRef line);

} // namespace frontload

#endif
