// Reads a trace.
//
// A trace is what one process recorded; instrument/format/frontload_trace.h declares the format.
// This is the reader for programs that take the events one by one; profiles are made by
// scripts/frontload/profile/trace.py, which reads the same.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace frontload {

/// Whether a module, by its path and its build-id (empty if it has none), is the file asked for.
using ModuleFilter = llvm::function_ref<bool(llvm::StringRef path, llvm::StringRef buildId)>;

/// The addresses that the trace in `bytes` has as touched in the modules that `isWanted` accepts,
/// in the order of first touch; fails if it accepts none. Errors say `path: offset N: what is
/// wrong`.
llvm::Expected<std::vector<uint64_t>> readTrace(llvm::StringRef path, llvm::StringRef bytes,
                                                ModuleFilter isWanted);

/// The run that a trace is part of; 0 if it has no number, or is no trace.
struct TraceRun {
  uint64_t number = 0;
  bool isForked = false;
  uint32_t process = 0;
};
TraceRun readRun(llvm::StringRef bytes);

} // namespace frontload
