// The loop that waits for logs, signals and the end.
#include "recording.h"

#include "recorder/diagnostics.h"

#include "llvm/Support/Errno.h"

#include <climits>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

static constexpr size_t bufferSize = 1 << 20;

Recording::Recording(Modules &allModules, TraceFolder &folderOfTraces, Command &theCommand,
                     std::string folderOfLogs, const RecorderEnvironment &theEnvironment)
    : modules(allModules), traces(folderOfTraces), command(theCommand),
      folder(std::move(folderOfLogs)), environment(theEnvironment), buffer(bufferSize) {}

Recording::~Recording() {
  for (int file : {signals, folderEvents, mainLog})
    if (file >= 0)
      close(file);
  for (auto &[name, child] : children)
    close(child.log);
}

Error Recording::openLogs() {
  // The pipe itself is elsewhere: a watched folder would have an event for every write into it.
  std::string pipe = folder + ".pipe", link = folder + "/" + std::to_string(command.pid);
  if (mkfifo(pipe.c_str(), 0600) != 0)
    return systemError(pipe, "cannot make a pipe");
  if (symlink(pipe.c_str(), link.c_str()) != 0)
    return systemError(link, "cannot make a link");
  mainLog = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (mainLog < 0)
    return systemError(pipe, "cannot be read");
  fcntl(mainLog, F_SETPIPE_SZ, 4096);
  folderEvents = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (folderEvents < 0 || inotify_add_watch(folderEvents, folder.c_str(),
                                            IN_CREATE | IN_CLOSE_WRITE | IN_EXCL_UNLINK) < 0)
    return systemError(folder, "cannot be watched");
  signals = signalfd(-1, &environment.awaited, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals < 0)
    return systemError("signalfd", "cannot wait for signals");
  return Error::success();
}

bool Recording::isOver() const {
  return status && ((mainLog < 0 && children.empty()) || isInterrupted);
}

Expected<int> Recording::run() {
  if (Error error = openLogs())
    return error;
  // By default a sleep takes 50 microseconds longer than it should.
  prctl(PR_SET_TIMERSLACK, 1);
  mainProcess = std::make_unique<RecordedProcess>(modules, traces, command.pid, nullptr);
  command.go();
  while (!isOver()) {
    pollfd files[] = {{mainLog, POLLIN, 0}, {signals, POLLIN, 0}, {folderEvents, POLLIN, 0}};
    // The logs of children are ordinary files, which tell nobody that they grow.
    constexpr int forever = -1, interval = 20;
    if (poll(files, std::size(files), children.empty() ? forever : interval) < 0 && errno != EINTR)
      return systemError("poll", "cannot wait for the program");
    if (files[1].revents)
      readSignal();
    if (files[0].revents)
      readMainLog();
    if (files[2].revents)
      readFolderEvents();
    for (auto &[name, child] : children)
      readChildLog(child);
  }
  return *status;
}

void Recording::readMainLog() {
  ssize_t size = ::read(mainLog, buffer.data(), buffer.size());
  if (size > 0) {
    mainProcess->read(ArrayRef(buffer.data(), size));
    // Valgrind makes a system call for every line. To be woken up for each of them takes us, and
    // it, longer than all the rest; in this time it can fill the pipe.
    usleep(50);
  } else if (size == 0 || errno != EAGAIN) {
    close(mainLog);
    mainLog = -1;
    readFolderEvents(); // children were heard of before it was closed by all of them
  }
}

void Recording::readFolderEvents() {
  alignas(inotify_event) char events[16 * (sizeof(inotify_event) + NAME_MAX + 1)];
  ssize_t size;
  while ((size = ::read(folderEvents, events, sizeof events)) > 0) {
    for (char *at = events; at < events + size;) {
      auto &event = *reinterpret_cast<inotify_event *>(at);
      at += sizeof event + event.len;
      if (event.len == 0)
        continue;
      if (event.mask & IN_CREATE)
        childAppears(event.name);
      else if (event.mask & IN_CLOSE_WRITE)
        childEnds(event.name);
    }
  }
}

void Recording::childAppears(const std::string &name) {
  pid_t pid;
  if (StringRef(name).getAsInteger(10, pid) || pid == command.pid)
    return;
  int log = open((folder + "/" + name).c_str(), O_RDWR | O_CLOEXEC);
  if (log < 0) {
    warning("process " + name + ": not recorded: " + sys::StrError(errno));
    return;
  }
  children.insert_or_assign(
      name,
      Child{log, 0, std::make_unique<RecordedProcess>(modules, traces, pid, mainProcess.get())});
}

void Recording::readChildLog(Child &child) {
  ssize_t size;
  while ((size = pread(child.log, buffer.data(), buffer.size(), child.position)) > 0) {
    child.process->read(ArrayRef(buffer.data(), size));
    child.position += size;
    // Only whole blocks are given back, and not all file systems can.
    fallocate(child.log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, child.position);
  }
}

void Recording::childEnds(const std::string &name) {
  auto child = children.find(name);
  if (child == children.end())
    return;
  readChildLog(child->second);
  // First the name: a later process can have the same one, and must not be mistaken for this.
  unlink((folder + "/" + name).c_str());
  close(child->second.log);
  children.erase(child);
}

void Recording::readSignal() {
  signalfd_siginfo info;
  while (::read(signals, &info, sizeof info) == sizeof info) {
    if (info.ssi_signo == SIGCHLD) {
      int newStatus;
      if (waitpid(command.pid, &newStatus, WNOHANG) == command.pid)
        status = newStatus;
      // A pipe that nobody has opened, because valgrind could not load the program, has no end that
      // could be waited for.
      if (status && mainLog >= 0)
        readMainLog();
    } else if (status) {
      isInterrupted = true; // there is nobody else to tell
    } else if (info.ssi_code <= 0) {
      // Ctrl-C and the like come from the terminal to the program as well as to us.
      kill(command.pid, info.ssi_signo);
    }
  }
}
