// Goes through /proc until there is no thread left that is not traced.
#include "attach.h"

#include "other_tracers.h"
#include "recorder/diagnostics.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <dirent.h>
#include <fstream>
#include <linux/kcmp.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

static std::vector<pid_t> threadsOf(pid_t process) {
  std::vector<pid_t> threads;
  if (DIR *folder = opendir(("/proc/" + std::to_string(process) + "/task").c_str())) {
    while (dirent *entry = readdir(folder))
      if (pid_t id = atoi(entry->d_name); id > 0)
        threads.push_back(id);
    closedir(folder);
  }
  return threads;
}

/// The children of a thread that have the memory of its process, until they execute a program.
static std::vector<pid_t> sharersOf(pid_t thread) {
  std::string name = std::to_string(thread);
  std::ifstream children("/proc/" + name + "/task/" + name + "/children");
  std::vector<pid_t> sharers;
  for (pid_t child; children >> child;)
    if (syscall(SYS_kcmp, thread, child, KCMP_VM, 0, 0) == 0)
      sharers.push_back(child);
  return sharers;
}

/// Whether a thread may be making a process. One that sleeps in another system call does not, and
/// is better left alone: some calls end early when their thread is stopped.
static bool mayFork(pid_t thread) {
  std::ifstream call("/proc/" + std::to_string(thread) + "/syscall");
  long number;
  if (!(call >> number)) // "running"
    return true;
  switch (number) {
#ifdef SYS_fork
  case SYS_fork:
  case SYS_vfork:
#endif
  case SYS_clone:
  case SYS_clone3:
    return sharersOf(thread).empty(); // else it waits for its child, which is seized
  default:
    return false;
  }
}

std::vector<Change> frontload::stopForks(const std::vector<pid_t> &threads) {
  DenseSet<pid_t> awaited;
  for (pid_t id : threads)
    if (mayFork(id) && ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr) == 0)
      awaited.insert(id);
  // Not for each in turn: the end of a first thread is told after that of all others.
  std::vector<Change> changes;
  int status;
  for (pid_t id; !awaited.empty() && (id = waitpid(-1, &status, __WALL)) > 0;) {
    changes.push_back({id, status});
    awaited.erase(id);
  }
  return changes;
}

static Error checkProcess(pid_t process) {
  std::string name = std::to_string(process);
  pid_t whole = processOf(process);
  if (whole == 0) {
    errno = ESRCH;
    return systemError("process " + name, "cannot be recorded");
  }
  if (whole != process)
    return createStringError("process " + name + ": is a thread of process " +
                             std::to_string(whole) + ": give that one");
  if (process == getpid())
    return createStringError("process " + name + ": is the recorder itself");
  std::ifstream status("/proc/" + name + "/status");
  pid_t tracer = 0;
  for (std::string field; status >> field;)
    if (field == "TracerPid:")
      status >> tracer;
  if (tracer != 0)
    return createStringError("process " + name + ": is traced by process " +
                             std::to_string(tracer) + " already");
  return Error::success();
}

Expected<std::vector<pid_t>> frontload::seizeProcess(pid_t process, long options) {
  if (Error problem = checkProcess(process))
    return problem;
  std::vector<pid_t> seized;
  // What a traced thread starts is traced from its birth. So once a whole list is, all are; new
  // ones are seized in vain.
  auto seizeAll = [&](const std::vector<pid_t> &threads) -> bool {
    bool isNew = false;
    for (pid_t id : threads) {
      if (llvm::is_contained(seized, id))
        continue;
      if (ptrace(PTRACE_SEIZE, id, nullptr, options) != 0)
        continue;
      seized.push_back(id);
      isNew = true;
    }
    return isNew;
  };
  errno = 0;
  while (seizeAll(threadsOf(process)))
    ;
  if (seized.empty()) // the first thread may have ended before the others
    return systemError("process " + std::to_string(process), "cannot be traced");
  for (size_t i = 0; i < seized.size(); ++i)
    seizeAll(sharersOf(seized[i]));
  return seized;
}
