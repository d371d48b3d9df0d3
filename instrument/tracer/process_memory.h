// The memory of a traced process, through /proc/PID/mem: even code that is mapped read-only can be
// written there, in any amount by one call.
//
// The descriptor is kept for as long as the address space is traced. A process can close its memory
// to others (prctl PR_SET_DUMPABLE); what was opened before that stays open.
#ifndef FRONTLOAD_TRACER_PROCESS_MEMORY_H
#define FRONTLOAD_TRACER_PROCESS_MEMORY_H

#include "llvm/ADT/ArrayRef.h"

#include <fcntl.h>
#include <string>
#include <sys/types.h>
#include <unistd.h>

namespace frontload {

class ProcessMemory {
public:
  /// If it cannot be opened, errno says why.
  explicit ProcessMemory(pid_t process)
      : file(open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDWR | O_CLOEXEC)) {}
  ~ProcessMemory() {
    if (file >= 0)
      close(file);
  }
  ProcessMemory(const ProcessMemory &) = delete;
  ProcessMemory &operator=(const ProcessMemory &) = delete;

  bool isOpen() const { return file >= 0; }
  bool read(uint64_t address, llvm::MutableArrayRef<uint8_t> bytes) {
    return pread(file, bytes.data(), bytes.size(), address) == ssize_t(bytes.size());
  }
  bool write(uint64_t address, llvm::ArrayRef<uint8_t> bytes) {
    return pwrite(file, bytes.data(), bytes.size(), address) == ssize_t(bytes.size());
  }

private:
  int file;
};

} // namespace frontload

#endif
