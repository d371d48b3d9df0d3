//===- previous_output.cpp - keeps what a failed link would remove ---------===//

#include "previous_output.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include <cstdlib>
#include <string>

using namespace llvm;

namespace frontload {

static std::string original, kept;

static void restore() {
  if (!kept.empty())
    sys::fs::rename(kept, original);
}

void keepPreviousOutput(StringRef path) {
  sys::fs::file_status status;
  if (!kept.empty() || sys::fs::status(path, status, /*follow=*/false) ||
      status.type() != sys::fs::file_type::regular_file)
    return;
  SmallString<128> aside;
  sys::fs::createUniquePath(path + ".kept-%%%%%%%%", aside, /*MakeAbsolute=*/true);
  // A second name for the same file, so that there is no moment without the first. Some file
  // systems have no such thing.
  if (sys::fs::create_hard_link(path, aside) && sys::fs::rename(path, aside))
    return;
  original = path;
  kept = aside.str();
  std::atexit(restore);
}

void forgetPreviousOutput() {
  if (!kept.empty())
    sys::fs::remove(kept);
  kept.clear();
}

} // namespace frontload
