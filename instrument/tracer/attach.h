// Becomes the tracer of a process that runs, without stopping it: of all its threads, and of what
// shares its memory.
#ifndef FRONTLOAD_TRACER_ATTACH_H
#define FRONTLOAD_TRACER_ATTACH_H

#include "llvm/Support/Error.h"

#include <sys/types.h>
#include <vector>

namespace frontload {

/// The threads that are traced from now on, with these options of ptrace; what they start is traced
/// as well. All that execute the code of this process are among them.
llvm::Expected<std::vector<pid_t>> seizeProcess(pid_t process, long options);

/// A thread that has stopped or ended, with what waitpid says of it.
struct Change {
  pid_t thread;
  int status;
};

/// Of these threads those that had to be stopped, because they may have been in the middle of a
/// fork since before they were traced: the child would not be traced, and have a copy of the memory
/// as it is when it comes to that. After this, the code of the process may be changed.
std::vector<Change> stopForks(const std::vector<pid_t> &threads);

} // namespace frontload

#endif
