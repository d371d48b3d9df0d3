//===- output_file.h - files that are written beside the linked one --------===//
//
// A path may name a file, which is to be whole or as it was, or a link or a device, which a rename
// would replace by a file. LLVM's writeToOutput treats each as a file, and replaces every '%' in
// the path.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROGRAM_OUTPUT_FILE_H
#define FRONTLOAD_LLDPLUGIN_PROGRAM_OUTPUT_FILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace frontload {

/// A name for a file beside `path`: `path`, `infix` and eight random digits.
std::string nameBeside(llvm::StringRef path, llvm::StringRef infix);

/// Has `write` write to `path`: a file whole or not at all, anything else in place, "-" to the
/// standard output.
llvm::Error writeOutputFile(llvm::StringRef path,
                            llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace frontload

#endif
