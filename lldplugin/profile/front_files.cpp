//===- front_files.cpp - the files that a link with a front is told of -----===//

#include "profile/front_files.h"
#include "program/diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

std::optional<Refusal> readProfile(const std::string &path, StartupProfile &profile) {
  // Read, not mapped: it may be written anew while the link refers to its names.
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

std::optional<Refusal> checkReportPath(StringRef report, ArrayRef<StringRef> others) {
  if (report.empty())
    return std::nullopt;
  StringRef folder = sys::path::parent_path(report);
  if (!folder.empty() && !sys::fs::is_directory(folder)) {
    std::error_code error = make_error_code(std::errc::no_such_file_or_directory);
    return Refusal{(report + ": " + error.message()).str(), "make its folder first", exitUsage};
  }
  for (StringRef other : others)
    if (report == other || sys::fs::equivalent(report, other))
      return Refusal{(report + ": the report would replace a file of this link").str(),
                     "give the report another name", exitUsage};
  return std::nullopt;
}

} // namespace frontload
