//===- prediction.h - what a start that was traced costs, cold -------------===//
//
// A trace says what the program touches. The file says where that lies, and what the dynamic linker
// does before (elf_start.h). The model says what the kernel makes of all of it (start_model.h).
// Here these come together.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_PREDICTION_H
#define FRONTLOAD_TOOLS_PREDICT_PREDICTION_H

#include "cold_start/start_model.h"
#include "predict/program_file.h"
#include "predict/symbol_map.h"
#include <string>
#include <vector>

namespace frontload {

/// What there is to know for all predictions of one command line.
struct Question {
  const ProgramFile &program;
  std::vector<FileSegment> segments;
  const ProgramFile &recorded;
  SymbolMap *map; ///< null where the recorded build is the program itself
  std::vector<DeviceProfile> devices;
  std::vector<FileRange> prefetched;
  bool isAskedBefore; ///< by another program, which then executes this one
};

struct Prediction {
  llvm::StringRef trace; ///< the first of the run's
  /// Touches, and how many of them are of nothing that the program has by the same name.
  uint64_t touches = 0, missing = 0;
  std::vector<StartCounts> counts; ///< one for each device
};

/// What a trace touched, in its order, and where that is in the program; `missing` counts what is
/// not. A trace that cannot be read, or is of no such program, ends this one.
std::vector<AddressPair> touchedIn(const Question &question, llvm::StringRef trace,
                                   uint64_t &missing);

/// The traces that are of one run together, first that of the process that was executed: what its
/// forked children touch is part of the start. Runs stand in the order of their first trace.
std::vector<std::vector<std::string>> groupByRun(llvm::ArrayRef<std::string> traces);

/// What a run costs, of which these are the traces.
Prediction predict(const Question &question, llvm::ArrayRef<std::string> run);

} // namespace frontload

#endif
