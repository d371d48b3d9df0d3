// Writes the trace of one address space, in the format of frontload_trace.h.
//
// Every record is written at once and in order, and only then counted in the header. Recorded
// events are therefore in the file whatever becomes of the program or of the recorder. Plain writes
// are used, not a shared mapping: a full disk is then an error code and not a SIGBUS.
#pragma once

#include "format/frontload_trace.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <sys/types.h>

namespace frontload {

/// Where traces go: a file name pattern in which %p stands for the process id, %m for the program's
/// file name and %% for a percent sign.
class OutputPattern {
public:
  /// Refuses letters without a meaning, so that a mistyped pattern does not become a file name.
  static llvm::Expected<OutputPattern> parse(llvm::StringRef text);

  std::string expand(llvm::StringRef programPath, pid_t pid) const;

  /// The pattern with an absolute path, for a recorder that may expand it in another folder.
  std::string absolute() const;

  /// Checks now that a trace of `programPath` can be written later: that the folder exists, takes
  /// files and has room. A folder whose own name holds %p or %m cannot be checked.
  llvm::Error check(llvm::StringRef programPath) const;

private:
  explicit OutputPattern(llvm::StringRef pattern) : text(pattern) {}

  std::string text;
};

/// The common part of all traces of one recording.
class TraceFolder {
public:
  TraceFolder(OutputPattern outputPattern, frontload_recorder recordedBy)
      : pattern(std::move(outputPattern)), recorder(recordedBy) {}

  /// Creates a file that did not exist before, with .1, .2... appended to the name where it did.
  /// Returns its descriptor and puts its name into `path`; -1 and errno if that fails.
  int createFile(std::string &path);

  /// Warns, once per recording, that something could not be written.
  void warn(const llvm::Twine &path, const llvm::Twine &what);

  /// Nothing was recorded, and not for want of room.
  bool isEmpty() const { return traceCount == 0 && !warned; }

  const OutputPattern pattern;
  const frontload_recorder recorder;
  unsigned traceCount = 0;

private:
  bool warned = false;
};

struct TraceModule {
  std::string path;
  llvm::ArrayRef<uint8_t> buildId;
};

/// The run that a process is part of, as the trace records it.
struct TraceRun {
  uint64_t number;
  bool isForked = false; // by a process of the same run
  std::string role = {}; // of frontload_role.h, or empty

  /// The run of a process that executes a program.
  static TraceRun begin(std::string role = {});
};

class TraceWriter {
public:
  /// Every trace begins with the main program. No file is made before the first touch: many
  /// processes touch nothing new.
  TraceWriter(TraceFolder &traces, TraceModule mainProgram, pid_t processId, TraceRun partOf);
  ~TraceWriter();
  TraceWriter(const TraceWriter &) = delete;
  TraceWriter &operator=(const TraceWriter &) = delete;

  /// Announces a module. Returns the number to be used for it, from 1 up; the program's is 1.
  uint32_t addModule(const TraceModule &module);
  /// Records a first touch. `kind` is a kind of event.
  void addEvent(frontload_record_kind kind, uint32_t module, uint64_t address, pid_t thread);
  void markStartupDone();
  /// Records how a process ended, if the trace is its own: `status` is a wait status.
  void ended(pid_t process, int status);
  /// The run of a process that this one forks.
  TraceRun forkedRun() const { return {run.number, true, run.role}; }
  const std::string &role() const { return run.role; }

private:
  void open();
  void append(llvm::ArrayRef<uint8_t> record);
  void writeModule(const TraceModule &module, uint32_t number, uint32_t flags);
  bool writeAt(uint64_t offset, const void *bytes, size_t size);

  enum class State { notYetOpen, open, full, impossible };

  TraceFolder &folder;
  TraceModule program;
  pid_t pid;
  TraceRun run;
  State state = State::notYetOpen;
  int file = -1;
  std::string path;
  uint32_t moduleCount = 1;
  uint64_t slotCount = 0;
  uint64_t droppedCount = 0;
};

} // namespace frontload
