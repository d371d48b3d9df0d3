// The breakpoints in one address space, and the functions touched in it.
//
// A module is a file whose functions are recorded here; a mapping is one place where its code is.
// Usually a module has one mapping, but a library can be closed and loaded elsewhere, or be loaded
// twice (dlmopen): each function is still recorded once.
//
// Breakpoints are planted in bulk, through /proc/PID/mem, before any code of a mapping runs. At a
// hit the original bytes are put back for good and the thread is set back to execute them, so no
// thread is ever single-stepped over a breakpoint. Another thread may already have trapped at the
// same place: it finds the function touched, and only gets its program counter set back.
//
// If a program copies functions and runs a copy, the copy is repaired where it traps. If it reads
// all of its code, a watchpoint of the processor at the beginning tells, and the breakpoints are
// taken out. A program that reads single functions sees their breakpoints, and every page of code
// with a function in it becomes private memory of the process.
#pragma once

#include "program.h"
#include "recorder/trace_writer.h"

#include "llvm/ADT/BitVector.h"

#include <memory>
#include <sys/types.h>
#include <vector>

namespace frontload {

/// The memory of a traced process, through /proc/PID/mem: even code that is mapped read-only can be
/// written there.
///
/// The descriptor is kept for as long as the address space is traced. A process can close its
/// memory to others (prctl PR_SET_DUMPABLE); a descriptor opened before stays open. Where there is
/// no descriptor left, no /proc, or a kernel that does not write code that way
/// (proc_mem.force_override), ptrace moves the bytes, word by word.
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

using ProgramRef = std::shared_ptr<const Program>;

class AddressSpace {
public:
  AddressSpace(TraceFolder &traces, ProgramRef program, pid_t pid, TraceRun run);

  /// Plants breakpoints in the untouched functions of `program`, whose code is mapped with this
  /// bias. `stopped` is one of the threads here, as below.
  llvm::Error map(pid_t stopped, const ProgramRef &program, uint64_t bias);
  bool isMapped(const Program &program, uint64_t bias) const;
  /// Forgets the mappings in a range of addresses, except those made after `time`, a value of
  /// clock(): another thread may get the same addresses before we hear that they were given up.
  void unmap(uint64_t begin, uint64_t end, uint64_t time);
  uint64_t clock() const { return mapCount; }

  /// The child's copy after a fork: functions touched in the parent stay touched, new touches go to
  /// a trace of the child's own.
  std::shared_ptr<AddressSpace> fork(pid_t child) const;
  const std::string &role() const { return trace.role(); }

  struct Hit {
    bool isOurs;        // there is or was a breakpoint of ours, and it is out
    bool endsRecording; // the function is the one named by --until
  };
  /// A thread has trapped at `address`: puts the code back and, if `isRecording`, records the
  /// touch.
  Hit hit(pid_t thread, uint64_t address, bool isRecording);

  /// A thread has trapped at a breakpoint at `address`, which is none of ours: puts the original
  /// code there if that is a copy of code, made while a breakpoint was in it. Otherwise false.
  bool restoreCopy(pid_t thread, uint64_t address);

  /// Where the program reads its code first, if it reads all of it.
  std::vector<uint64_t> watchedPlaces() const;
  /// A thread has read there: takes out the breakpoints, and says so.
  void codeWasRead(pid_t thread);

  /// Takes out every breakpoint that is left. True if there is none any more.
  bool removeBreakpoints(pid_t stopped);
  /// The process must be let go.
  bool isOfTracer() const { return mainProgram->isTracer(); }
  void markStartupDone() { trace.markStartupDone(); }
  void ended(pid_t process, int status) { trace.ended(process, status); }

private:
  struct Module {
    ProgramRef program;
    llvm::BitVector untouched; // functions with a breakpoint that was not hit yet
    uint32_t traceNumber = 0;  // 0: not announced in the trace yet
  };
  struct Mapping {
    size_t module;
    uint64_t bias;
    uint64_t time;
  };

  std::optional<arch::Code> originalOfCopy(pid_t thread, uint64_t address, bool isExecuted,
                                           bool isPredicted);
  void restoreCopies(pid_t stopped);
  size_t moduleFor(const ProgramRef &program);
  bool overlaps(const Mapping &mapping, uint64_t begin, uint64_t end) const;

  TraceFolder &folder;
  ProgramRef mainProgram;
  ProcessMemory memory;
  TraceWriter trace;
  std::vector<Module> modules;
  std::vector<Mapping> mappings;
  uint64_t mapCount = 0;
  llvm::DenseSet<uint64_t> restoredCopies;
  uint64_t copyDistance = 0; // from the site to the copy that was restored last
  bool isClean = false;      // removeBreakpoints succeeded
};

} // namespace frontload
