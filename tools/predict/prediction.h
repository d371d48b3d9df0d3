// The cold cost of a traced start.
//
// Combines a trace, which has the touches of the program, the file, which has their places and the
// work of the dynamic linker (program_loading.h), and the model of the kernel (start_model.h).
#pragma once

#include "cold_start/start_model.h"
#include "predict/symbol_map.h"
#include "predict/whole_start.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace frontload {

/// A linked file: its bytes, and LLVM's view of it and of the file that has its symbols, which is
/// another one if it is stripped. A file of another kind ends the program.
struct ProgramFile {
  explicit ProgramFile(const std::string &path);

  llvm::StringRef bytes() const { return buffer->getBuffer(); }
  /// Whether a trace's module is this file. Without build-ids, the base name decides.
  bool isModule(llvm::StringRef modulePath, llvm::StringRef id) const;
  bool isSameBuild(const ProgramFile &other) const;
  Build build() const { return {*elf, debug ? *debug : *elf}; }

  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::unique_ptr<llvm::object::ELFObjectFileBase> elf;
  std::unique_ptr<llvm::MemoryBuffer> debugBuffer;
  std::unique_ptr<llvm::object::ELFObjectFileBase> debug;
  std::string name, buildId;
};

/// What to do about a file that cannot be read, or is not linked.
inline constexpr char readableNote[] = "give the path of a file that can be read";
inline constexpr char linkedFileNote[] = "give a program or a shared library that was linked";

/// The inputs of all predictions of one command line.
struct Question {
  const ProgramFile &program;
  std::vector<FileSegment> segments;
  const ProgramFile &recorded;
  SymbolMap *map; ///< null where the recorded build is the program itself
  std::vector<DeviceProfile> devices;
  AskedRanges prefetched;
  bool isAskedBefore;               ///< prefetched by another program, which then executes this one
  std::vector<TouchedPages> listed; ///< asked for then, by a prefetch list
  std::optional<ImageBlocks> image; ///< if the program lies in one
};

struct Prediction {
  llvm::StringRef trace; ///< the first trace of the run
  /// Touches, and how many of them have no place in the program.
  uint64_t touches = 0, missing = 0;
  std::vector<StartCounts> counts; ///< one for each device
};

/// The touches of a trace, in its order, and their places in the program; `missing` counts those
/// without a place. A trace that cannot be read, or is of another program, ends this one.
std::vector<AddressPair> touchedIn(const Question &question, llvm::StringRef trace,
                                   uint64_t &missing);

/// The traces of each run, first that of the executed process: its forked children are part of the
/// start. Runs stand in the order of their first trace.
std::vector<std::vector<std::string>> groupByRun(llvm::ArrayRef<std::string> traces);

/// The cost of a run with these traces.
Prediction predict(const Question &question, llvm::ArrayRef<std::string> run);

} // namespace frontload
