//===- startup_pages.h - the pages of a file that a start touches ----------===//
//
// The start of a build that was not recorded: the profile has the names of what is touched, in
// order; the file has their places, and the tables of the dynamic linker (program_loading.h); and
// the code of the touched functions refers to the constants that have no names (code_walk.h).
//
// Order: headers, dynamic linking and relocation, then the entries of the profile, each function
// with what its code refers to.
//
//===----------------------------------------------------------------------===//

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
/// file that has its symbols, itself or its debug file. Fails if that has none, or a file is
/// damaged.
llvm::Expected<StartupPages> startupPages(llvm::StringRef program, llvm::MemoryBufferRef symbols,
                                          const StartupProfile &profile);

/// Prints them as JSON of the schema "frontload-pages/1".
void printStartupPages(llvm::StringRef path, const StartupPages &pages);

} // namespace frontload
