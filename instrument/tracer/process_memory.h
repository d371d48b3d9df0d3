// The memory of a traced process, through /proc/PID/mem: even code that is mapped read-only can be
// written there.
//
// The descriptor is kept for as long as the address space is traced. A process can close its memory
// to others (prctl PR_SET_DUMPABLE); a descriptor opened before stays open. Where there is no
// descriptor left, no /proc, or a kernel that does not write code that way
// (proc_mem.force_override), ptrace moves the bytes, word by word.
#ifndef FRONTLOAD_TRACER_PROCESS_MEMORY_H
#define FRONTLOAD_TRACER_PROCESS_MEMORY_H

#include "llvm/ADT/ArrayRef.h"

#include <sys/types.h>

namespace frontload {

class ProcessMemory {
public:
  explicit ProcessMemory(pid_t process);
  ~ProcessMemory();
  ProcessMemory(const ProcessMemory &) = delete;
  ProcessMemory &operator=(const ProcessMemory &) = delete;

  /// The errno if the process has closed its memory to us, or 0.
  int refusal() const;

  /// `stopped` is a thread of the process that ptrace has stopped.
  bool read(pid_t stopped, uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) const;
  /// Writes a few bytes: the process may write those beside them meanwhile.
  bool write(pid_t stopped, uint64_t address, llvm::ArrayRef<uint8_t> bytes) const;

private:
  int file;
  int openError = 0;
};

} // namespace frontload

#endif
