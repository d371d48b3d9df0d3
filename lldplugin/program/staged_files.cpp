//===- staged_files.cpp - files that take their places together ------------===//

#include "program/staged_files.h"
#include "program/old_file.h"
#include "program/output_file.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <vector>

using namespace llvm;

namespace frontload {

/// As many links as the kernel follows.
static constexpr unsigned maxLinks = 40;

std::optional<std::string> replaceableFile(StringRef path) {
  if (path.empty() || path == "-")
    return std::nullopt;
  std::filesystem::path place(path.str());
  for (unsigned links = 0; links < maxLinks; ++links) {
    // These are names of this process's open files, which may have other names; /dev/stdout leads
    // here.
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

/// Gives the file `temporary` the name `place`. A file that has this name gets the other one, where
/// the file system can exchange names: ext4 begins to write a file to the disk when it is renamed
/// over another (auto_da_alloc in ext4(5)), which took 145 ms of 1,100 for a file of 200 MB.
static std::error_code replace(const std::string &temporary, const std::string &place) {
  sys::fs::file_status status;
  if (!sys::fs::status(place, status, /*follow=*/false) &&
      status.type() == sys::fs::file_type::regular_file &&
      !renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE))
    return {};
  return sys::fs::rename(temporary, place);
}

Error StagedFiles::publish() {
  std::vector<OldFile> old;
  for (const File &file : concat<File>(files, outputs)) {
    old.emplace_back(file.place);
    if (std::error_code error = replace(file.temporary, file.place)) {
      discard();
      return createStringError(error, file.place + ": " + error.message());
    }
  }
  discard();
  llvm::for_each(old, std::mem_fn(&OldFile::letGo)); // these have no name any more
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
