//===- prediction_output.h - the output of frontload-predict ---------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_PREDICTION_OUTPUT_H
#define FRONTLOAD_TOOLS_PREDICT_PREDICTION_OUTPUT_H

#include "predict/prediction.h"
#include "llvm/ADT/ArrayRef.h"
#include <string>

namespace frontload {

/// A table for each trace: the cost of its start on each device.
void printText(const Question &question, llvm::ArrayRef<Prediction> predictions);

/// The same as JSON of the schema "frontload-predict/1".
void printJson(const Question &question, llvm::ArrayRef<Prediction> predictions);

/// For each trace the addresses that it touched in the recorded build, and the matching ones in the
/// program, as JSON of the schema "frontload-touches/1".
void printTouches(const Question &question, llvm::ArrayRef<std::string> traces);

} // namespace frontload

#endif
