// Inputs that can be read once.
//
// A link that begins again without a front reads all of its inputs again, and by then nothing is
// left in the pipe of a shell's <(command) or of /dev/stdin. So this process keeps what pipes and
// terminals give, in memory, and each later open gets the same again. lld opens some of its inputs
// by functions that are deep in LLVM, which may be a shared library, and all of them by open().
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdarg>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;

static int openFile(const char *path, int flags, mode_t mode) {
  return int(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

/// A file in memory with all that `stream` gives: its descriptor.
static ErrorOr<int> copyOf(int stream) {
  auto contents = MemoryBuffer::getOpenFile(stream, "", /*FileSize=*/-1);
  if (!contents)
    return contents.getError();
  int copy = memfd_create("frontload", MFD_CLOEXEC);
  if (copy < 0)
    return errnoAsErrorCode();
  raw_fd_ostream os(copy, /*shouldClose=*/false);
  os << (*contents)->getBuffer();
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (!error)
    return copy;
  close(copy);
  return error;
}

/// Opens the pipe or terminal at `path`, or what it gave the first time.
static int openStream(const char *path, int flags, const struct stat &status) {
  static std::mutex mutex;
  static std::map<std::pair<dev_t, ino_t>, int> copies; // descriptors that stay open
  std::unique_lock lock(mutex);
  auto copy = copies.find({status.st_dev, status.st_ino});
  lock.unlock(); // what feeds this pipe may wait for another thread to read another pipe
  if (copy == copies.end()) {
    int stream = openFile(path, flags, 0);
    if (stream < 0 || (S_ISCHR(status.st_mode) && !isatty(stream))) // such as /dev/urandom
      return stream;
    ErrorOr<int> made = copyOf(stream);
    close(stream);
    if (!made) {
      errno = made.getError().value();
      return -1;
    }
    lock.lock();
    copy = copies.try_emplace({status.st_dev, status.st_ino}, *made).first;
  }
  return fcntl(copy->second, F_DUPFD_CLOEXEC, 0);
}

extern "C" __attribute__((visibility("default"))) int openOrKept(const char *path, int flags,
                                                                 ...) asm("open");

/// Takes the place of the C library's open(), also in the libraries that ld.frontload loads.
int openOrKept(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  struct stat status;
  bool isStream = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT) && !stat(path, &status) &&
                  (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
  return isStream ? openStream(path, flags, status) : openFile(path, flags, mode);
}
