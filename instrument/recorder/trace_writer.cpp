// The name and the bytes of a trace, and the handling of write errors.
#include "trace_writer.h"

#include "base/machine.h"
#include "base/text.h"
#include "diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <array>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

Expected<OutputPattern> OutputPattern::parse(StringRef text) {
  for (size_t i = text.find('%'); i != StringRef::npos; i = text.find('%', i + 2)) {
    StringRef letter = text.substr(i + 1, 1);
    if (letter != "p" && letter != "m" && letter != "%")
      return createStringError("--output=" + text + ": '%" + letter +
                               "' has no meaning; use %p (process id), %m (program name) or %%");
  }
  StringRef name = sys::path::filename(text);
  if (text.empty() || text.ends_with("/") || name == "." || name == "..")
    return createStringError("--output=" + text + ": not a file name; write it as in " +
                             (text.empty() ? "" : text.rtrim('/') + "/") + "%m.%p.fltrace");
  return OutputPattern(text);
}

std::string OutputPattern::expand(StringRef programPath, pid_t pid) const {
  // A name longer than any path may be is cut, and stays longer than that.
  char path[PATH_MAX + NAME_MAX];
  struct text expanded = text_in(path, sizeof path);
  text_add_pattern(&expanded, text.c_str(), sys::path::filename(programPath).str().c_str(), pid);
  return path;
}

std::string OutputPattern::absolute() const {
  SmallString<256> folder;
  if (sys::path::is_absolute(text) || sys::fs::current_path(folder))
    return text;
  std::string result;
  for (char c : folder)
    result += c == '%' ? std::string("%%") : std::string(1, c);
  return result + "/" + text;
}

Error OutputPattern::check(StringRef programPath) const {
  StringRef folderPattern = sys::path::parent_path(text);
  if (folderPattern.contains("%p") || folderPattern.contains("%m"))
    return Error::success();
  std::string path = expand(programPath, getpid());
  if (sys::fs::is_directory(path)) {
    errno = EISDIR;
    return systemError(path, "cannot be the trace");
  }
  StringRef folder = sys::path::parent_path(path);
  std::string folderName = folder.empty() ? "." : folder.str();
  auto failure = [&] { return systemError(folderName, "cannot write traces there"); };

  int probe = open(folderName.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe < 0) {
    // Some file systems have no unnamed files: there, only the permission can be checked.
    bool hasUnnamed = errno != EOPNOTSUPP && errno != EISDIR;
    return hasUnnamed || !sys::fs::is_directory(folderName) ||
                   access(folderName.c_str(), W_OK | X_OK) != 0
               ? failure()
               : Error::success();
  }
  frontload_trace_header header = {};
  bool room = write(probe, &header, sizeof header) == sizeof header;
  Error result = room ? Error::success() : failure();
  close(probe);
  return result;
}

int TraceFolder::createFile(std::string &path) {
  const std::string wanted = path;
  for (int suffix = 1;; path = wanted + "." + std::to_string(suffix++)) {
    int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 || errno != EEXIST || suffix > FRONTLOAD_TRACE_MAX_SUFFIX)
      return file;
  }
}

void TraceFolder::warn(const Twine &path, const Twine &what) {
  if (!warned)
    warning(path + ": " + what + ": " + sys::StrError(errno));
  warned = true;
}

TraceRun TraceRun::begin(std::string role) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return {uint64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec, false, std::move(role)};
}

TraceWriter::TraceWriter(TraceFolder &traces, TraceModule mainProgram, pid_t processId,
                         TraceRun partOf)
    : folder(traces), program(std::move(mainProgram)), pid(processId), run(std::move(partOf)) {}

TraceWriter::~TraceWriter() {
  if (file >= 0)
    close(file);
}

bool TraceWriter::writeAt(uint64_t offset, const void *bytes, size_t size) {
  ssize_t written = pwrite(file, bytes, size, offset);
  if (written >= 0 && size_t(written) < size)
    errno = ENOSPC; // a short write has no errno; the usual reason
  return written == ssize_t(size);
}

void TraceWriter::open() {
  path = folder.pattern.expand(program.path, pid);
  file = folder.createFile(path);
  if (file < 0) {
    folder.warn(path, "cannot create the trace");
    state = State::impossible;
    return;
  }
  frontload_trace_header header = {};
  memcpy(header.magic, FRONTLOAD_TRACE_MAGIC, sizeof header.magic);
  frontload_begin_trace(&header, folder.recorder, FRONTLOAD_MACHINE, pid);
  header.forked = run.isForked;
  header.run = run.number;
  frontload_copy_role(header.role, run.role.c_str());
  if (!writeAt(0, &header, sizeof header)) {
    folder.warn(path, "cannot write the trace");
    unlink(path.c_str());
    state = State::impossible;
    return;
  }
  state = State::open;
  ++folder.traceCount;
  writeModule(program, 1, FRONTLOAD_MODULE_MAIN);
}

void TraceWriter::append(ArrayRef<uint8_t> record) {
  uint64_t slots = record.size() / FRONTLOAD_TRACE_SLOT_SIZE;
  uint64_t newCount = slotCount + slots;
  if (writeAt(FRONTLOAD_TRACE_HEADER_SIZE + slotCount * FRONTLOAD_TRACE_SLOT_SIZE, record.data(),
              record.size()) &&
      writeAt(offsetof(frontload_trace_header, next_slot), &newCount, sizeof newCount)) {
    slotCount = newCount;
    return;
  }
  folder.warn(path, "the trace ends here");
  state = State::full;
}

void TraceWriter::writeModule(const TraceModule &module, uint32_t number, uint32_t flags) {
  StringRef modulePath = StringRef(module.path).take_front(UINT16_MAX);
  size_t textSize = module.buildId.size() + modulePath.size();
  uint64_t slots = 1 + divideCeil(textSize, FRONTLOAD_TRACE_SLOT_SIZE);
  std::vector<uint8_t> record(slots * FRONTLOAD_TRACE_SLOT_SIZE);
  frontload_trace_slot first = {};
  first.kind_address = uint64_t(FRONTLOAD_MODULE) << 56 | uint64_t(1) << 48 |
                       uint64_t(module.buildId.size()) << 40 | slots << 16 | modulePath.size();
  first.module = number;
  first.thread = flags;
  memcpy(record.data(), &first, sizeof first);
  auto text = record.begin() + sizeof first;
  std::copy(modulePath.begin(), modulePath.end(), llvm::copy(module.buildId, text));
  append(record);
}

uint32_t TraceWriter::addModule(const TraceModule &module) {
  if (state == State::notYetOpen)
    open();
  uint32_t number = ++moduleCount;
  if (state == State::open)
    writeModule(module, number, 0);
  return number;
}

void TraceWriter::addEvent(frontload_record_kind kind, uint32_t module, uint64_t address,
                           pid_t thread) {
  if (state == State::notYetOpen)
    open();
  if (state == State::open) {
    frontload_trace_slot event = {};
    event.kind_address = uint64_t(kind) << 56 | (address & FRONTLOAD_ADDRESS_MASK);
    event.module = module;
    event.thread = thread;
    append(ArrayRef(reinterpret_cast<const uint8_t *>(&event), sizeof event));
  }
  if (state == State::full) {
    ++droppedCount;
    writeAt(offsetof(frontload_trace_header, dropped_events), &droppedCount, sizeof droppedCount);
  }
}

/// Servers are ended by other signals, after a good start.
static bool isCrash(int signal) {
  constexpr std::array crashes = {SIGQUIT, SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                                  SIGFPE,  SIGSEGV, SIGSYS,  SIGXCPU, SIGXFSZ};
  return is_contained(crashes, signal);
}

void TraceWriter::ended(pid_t process, int status) {
  uint8_t failed = WIFEXITED(status) ? WEXITSTATUS(status) != 0 : isCrash(WTERMSIG(status));
  if (process == pid && failed && (state == State::open || state == State::full))
    writeAt(offsetof(frontload_trace_header, failed), &failed, sizeof failed);
}

void TraceWriter::markStartupDone() {
  uint8_t done = 1;
  if (state == State::open || state == State::full)
    writeAt(offsetof(frontload_trace_header, startup_done), &done, sizeof done);
}
