//===- staged_files.cpp - files that take their places together ------------===//

#include "program/staged_files.h"
#include "program/output_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <filesystem>

using namespace llvm;

namespace frontload {

/// As many links as the kernel follows.
static constexpr unsigned mostLinks = 40;

std::optional<std::string> replaceableFile(StringRef path) {
  if (path.empty() || path == "-")
    return std::nullopt;
  std::filesystem::path place(path.str());
  for (unsigned links = 0; links < mostLinks; ++links) {
    // These name what this process has open, which may have a name elsewhere, too; /dev/stdout
    // leads here.
    for (StringRef own : {"/dev/fd/", "/proc/"})
      if (StringRef(place.native()).starts_with(own))
        return std::nullopt;
    sys::fs::file_status status;
    (void)sys::fs::status(place.native(), status, /*follow=*/false);
    using sys::fs::file_type;
    if (is_contained({file_type::regular_file, file_type::file_not_found}, status.type()))
      return place.native();
    std::error_code error;
    if (status.type() != file_type::symlink_file)
      return std::nullopt;
    place = place.parent_path() / std::filesystem::read_symlink(place, error);
    if (error)
      return std::nullopt;
  }
  return std::nullopt;
}

std::string nameForStaged(StringRef path) { return nameBeside(path, "-frontload-"); }

std::string StagedFiles::stage(StringRef path) {
  std::optional<std::string> place = replaceableFile(path);
  if (!place)
    return path.str();
  for (const File &file : files)
    if (file.place == *place)
      return file.temporary;
  std::string temporary = nameForStaged(*place);
  sys::RemoveFileOnSignal(temporary);
  files.push_back({std::move(*place), temporary});
  return temporary;
}

void StagedFiles::addOutput(StringRef path, StringRef temporary) {
  sys::RemoveFileOnSignal(temporary);
  outputs.push_back({path.str(), temporary.str()});
}

Error StagedFiles::publish() {
  for (const File &file : concat<File>(files, outputs))
    if (std::error_code error = sys::fs::rename(file.temporary, file.place)) {
      discard();
      return createStringError(error, file.place + ": " + error.message());
    }
  discard();
  return Error::success();
}

void StagedFiles::discard() {
  for (const File &file : concat<File>(files, outputs)) {
    sys::fs::remove(file.temporary);
    sys::DontRemoveFileOnSignal(file.temporary);
  }
  files.clear();
  outputs.clear();
}

} // namespace frontload
