// The pages of a file that a start touches.
//
// The start of a build that was not recorded: headers, dynamic linking and relocation
// (program_loading.h), then the entries of the profile in order, each function with the constants
// that its code refers to (code_walk.h).
#pragma once

#include "profile/startup_profile.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <vector>

namespace frontload {

/// Pages of 4096 bytes, by their numbers in the file.
struct PageRange {
  uint64_t first, count;
};

struct StartupPages {
  /// In order of first touch, no page twice.
  std::vector<PageRange> ranges;
  /// How many names of the profile the file has, and those that it lacks, of those that count.
  uint64_t found = 0;
  std::vector<llvm::StringRef> missing;
};

/// The pages of the linked file in `program` that a start with this profile touches. `symbols`: the
/// file itself or its debug file. Fails if that has no symbols, or a file is damaged.
llvm::Expected<StartupPages> startupPages(llvm::StringRef program, llvm::MemoryBufferRef symbols,
                                          const StartupProfile &profile);

/// Prints them as JSON of the schema "frontload-pages/1".
void printStartupPages(llvm::StringRef path, const StartupPages &pages);

} // namespace frontload
