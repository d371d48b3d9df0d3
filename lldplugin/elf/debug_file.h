// The symbols of a stripped program.
//
// A stripped program has its symbols, and its map of basic blocks, in a file of their own.
// instrument/format/frontload_debug_file.h says where; this finds it for a file of any kind.
#pragma once

#include "llvm/Support/MemoryBuffer.h"
#include <memory>

namespace frontload {

/// The debug file of a linked file, whose buffer is named by its path; null if the linked file has
/// symbols, or none is found.
std::unique_ptr<llvm::MemoryBuffer> findDebugFile(llvm::MemoryBufferRef program);

/// Whether a linked file is itself a debug file: its constants have no contents, or its code, if it
/// has no constants.
bool isDebugFile(llvm::StringRef bytes);

} // namespace frontload
