// Recognises a copy of code in which breakpoints were.
//
// A program may copy its functions to another page and run the copy, as hooking libraries and
// engines with built-in machine code do. It copies breakpoints too. The bytes around one in a copy
// are those around the site that it was copied from.
#ifndef FRONTLOAD_TRACER_COPIED_CODE_H
#define FRONTLOAD_TRACER_COPIED_CODE_H

#include "process_memory.h"
#include "program.h"

#include <optional>
#include <utility>
#include <vector>

namespace frontload {

class CopiedCode {
public:
  /// A breakpoint is at `address`, where no site is. With `isExecuted`, a thread has trapped there.
  CopiedCode(const ProcessMemory &memory, pid_t thread, uint64_t address, bool isExecuted);

  /// Compares the copy with each site of some code, which begins at `begin`, as in the file.
  void compare(llvm::ArrayRef<uint8_t> planted, uint64_t begin, llvm::ArrayRef<Site> sites,
               uint64_t bias);

  /// The code that the breakpoint replaces; nothing if no site is like it, or they differ in this.
  std::optional<arch::Code> original() const { return code; }
  /// Where in memory that site is.
  uint64_t origin() const { return best; }

private:
  std::vector<uint8_t> bytes;
  size_t at = 0;    // in these bytes, the breakpoint
  size_t minAlike;  // fewer neighbours may be alike by accident
  size_t alike = 0; // the number of bytes beside the best site that are those of the copy
  uint64_t best = 0;
  std::optional<arch::Code> code; // of all best sites
};

/// Where a process has executable memory that is not from a file: begin and end.
std::vector<std::pair<uint64_t, uint64_t>> writtenCode(pid_t thread);

} // namespace frontload

#endif
