// Files that take their places together.
#include "program/staged_files.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace frontload {

Error writeOutputFile(StringRef path, function_ref<void(raw_ostream &)> write) {
  std::error_code error;
  raw_fd_ostream os(path, error);
  if (!error) {
    write(os);
    os.flush();
    error = os.error();
    os.clear_error();
  }
  return errorCodeToError(error);
}

bool makesFile(StringRef path) {
  sys::fs::file_status status;
  return sys::fs::status(path, status) || sys::fs::is_regular_file(status);
}

std::string nameForStaged(StringRef path) {
  // Without the path, in which '%' would be replaced as well.
  SmallString<16> digits;
  sys::fs::createUniquePath("%%%%%%%%", digits, /*MakeAbsolute=*/false);
  return (path + "-frontload-" + digits).str();
}

/// Smaller files are freed about as quickly as a process is started: in 2 ms.
static constexpr off_t minBytes = off_t(16) << 20;

/// Holds the file at `path`, whose name is about to go to another one, if it is large and has no
/// other name. Returns its descriptor; -1 for other files, which are freed as usual.
///
/// The process that removes a file's last name or descriptor waits until the kernel has freed its
/// blocks: 110 ms for 200 MB that ext4 has written out, a tenth of the link. lld removes the
/// previous output in a thread while it links. Here it stays until the new one takes its place, so
/// that a failed link loses nothing. Then another process closes it last, and the link need not
/// wait. (For the same reason mold goes on in a child when its output is complete.)
static int holdOld(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
      status.st_size < minBytes)
    return -1;
  // Not opened for reading: that may be forbidden, and nothing is read.
  return open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

/// Frees the held file in the background: to be called when it has no name any more.
static void letGo(int descriptor) {
  if (descriptor < 0)
    return;
  // A shell is the one program that is everywhere. It has the file as its input, which it never
  // reads, and ends at once. Nothing waits for its output, as it has none of our descriptors.
  posix_spawn_file_actions_t files;
  if (posix_spawn_file_actions_init(&files))
    return;
  bool isReady =
      !posix_spawn_file_actions_adddup2(&files, descriptor, STDIN_FILENO) &&
      !posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) &&
      !posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO) &&
      !posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  char shell[] = "/bin/sh", option[] = "-c", command[] = ":";
  char *arguments[] = {shell, option, command, nullptr}, *environment[] = {nullptr};
  pid_t child;
  if (isReady)
    posix_spawn(&child, shell, &files, nullptr, arguments, environment);
  posix_spawn_file_actions_destroy(&files);
  close(descriptor); // at once: the last process to close the file frees it
}

/// The file that a write to `path` changes, which may be a link, by a name at which a rename can
/// replace it. None if `path` is a device, a pipe or the like, or this process's name for an open
/// file.
static std::optional<std::string> replaceableFile(StringRef path) {
  if (path.empty() || path == "-" || path.starts_with("/dev/") || path.starts_with("/proc/"))
    return std::nullopt;
  std::error_code error;
  std::filesystem::path place = std::filesystem::weakly_canonical(path.str(), error);
  using std::filesystem::file_type;
  file_type type = std::filesystem::symlink_status(place, error).type();
  return type == file_type::regular || type == file_type::not_found ? std::optional(place.string())
                                                                    : std::nullopt;
}

std::string StagedFiles::stage(StringRef path) {
  std::optional<std::string> place = replaceableFile(path);
  if (!place)
    return path.str();
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
  if (!sys::fs::status(place, status, /*follow=*/false) && sys::fs::is_regular_file(status) &&
      !renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE))
    return {};
  return sys::fs::rename(temporary, place);
}

Error StagedFiles::publish() {
  std::vector<int> old;
  for (const File &file : concat<File>(files, outputs)) {
    old.push_back(holdOld(file.place));
    if (std::error_code error = replace(file.temporary, file.place)) {
      llvm::for_each(old, close);
      discard();
      return createStringError(error, file.place + ": " + error.message());
    }
  }
  discard();
  llvm::for_each(old, letGo); // these have no name any more
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
