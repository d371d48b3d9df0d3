//===- old_file.cpp - the file that an output takes the place of -----------===//

#include "program/old_file.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace frontload {

/// Smaller files are freed about as quickly as a process is started: in 2 ms.
static constexpr off_t minBytes = off_t(16) << 20;

OldFile::OldFile(const std::string &path) {
  struct stat status;
  if (lstat(path.c_str(), &status) || !S_ISREG(status.st_mode) || status.st_nlink != 1 ||
      status.st_size < minBytes)
    return;
  // Not opened for reading: that may be forbidden, and nothing is read.
  descriptor = open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

OldFile::~OldFile() {
  if (descriptor >= 0)
    close(descriptor);
}

void OldFile::letGo() {
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
  descriptor = -1;
}

} // namespace frontload
