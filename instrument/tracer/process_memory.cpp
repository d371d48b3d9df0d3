// Moves bytes by the first way that the kernel permits.
#include "process_memory.h"

#include "llvm/Support/MathExtras.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

ProcessMemory::ProcessMemory(pid_t process)
    : file(open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDWR | O_CLOEXEC)) {
  if (file < 0)
    openError = errno;
}

ProcessMemory::~ProcessMemory() {
  if (file >= 0)
    close(file);
}

int ProcessMemory::refusal() const {
  return openError == EACCES || openError == EPERM ? openError : 0;
}

bool ProcessMemory::read(pid_t stopped, uint64_t address, MutableArrayRef<uint8_t> bytes) const {
  if (file >= 0)
    return pread(file, bytes.data(), bytes.size(), address) == ssize_t(bytes.size());
  iovec here = {bytes.data(), bytes.size()};
  iovec there = {reinterpret_cast<void *>(address), bytes.size()};
  return process_vm_readv(stopped, &here, 1, &there, 1, 0) == ssize_t(bytes.size());
}

/// Reads and writes the words that hold these bytes as a whole.
static bool pokeWords(pid_t stopped, uint64_t address, ArrayRef<uint8_t> bytes) {
  uint64_t end = address + bytes.size();
  for (uint64_t at = alignDown(address, sizeof(long)); at < end; at += sizeof(long)) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, stopped, at, nullptr);
    if (errno != 0)
      return false;
    uint64_t from = std::max(at, address), to = std::min(at + sizeof(long), end);
    memcpy(reinterpret_cast<uint8_t *>(&word) + (from - at), bytes.data() + (from - address),
           to - from);
    if (ptrace(PTRACE_POKEDATA, stopped, at, word) != 0)
      return false;
  }
  return true;
}

bool ProcessMemory::write(pid_t stopped, uint64_t address, ArrayRef<uint8_t> bytes) const {
  return (file >= 0 &&
          pwrite(file, bytes.data(), bytes.size(), address) == ssize_t(bytes.size())) ||
         pokeWords(stopped, address, bytes);
}
