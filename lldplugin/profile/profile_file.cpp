//===- profile_file.cpp - the file that a startup profile is read from -----===//

#include "profile/profile_file.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace frontload {

std::optional<Refusal> readProfile(const std::string &path, StartupProfile &profile) {
  // Read, not mapped: it may be rewritten while the link refers to its names.
  auto text = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false,
                                    /*IsVolatile=*/true);
  if (!text)
    return Refusal{path + ": " + text.getError().message(),
                   "record one with 'frontload record' and 'frontload profile'", exitUsage};
  Expected<StartupProfile> parsed = parseStartupProfile(path, (*text)->getBuffer());
  if (!parsed)
    return Refusal{toString(parsed.takeError()), "make it again with 'frontload profile'",
                   exitData};
  if (parsed->entries.empty())
    return Refusal{path + ": the profile has no names", "record the program's start again",
                   exitData};
  (void)text->release();
  profile = std::move(*parsed);
  return std::nullopt;
}

} // namespace frontload
