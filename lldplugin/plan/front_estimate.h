// Whether a front is worth having.
//
// A front makes a large program start with a tenth of the reads. A small one, or one that touches
// nearly all it has, or a table here and there, may have to read more with a front than without: it
// reads the parts that one run in three needs, tables whole, and what fills the pages of segments.
//
// So before a file is written, both are started in the model of the kernel (start_model.h): the one
// with the front, and the one that the linker would write without. Neither is there yet. Where all
// would lie is calculated from the sizes of the input sections, which is accurate to a few pages.
#pragma once

#include "cold_start/start_model.h"
#include "plan/front_link.h"
#include <string>
#include <vector>

namespace frontload {

/// A start that was tried with the front, and without.
struct EstimatedStart {
  /// The start touches nothing that less than this share of the runs touches.
  double share;
  /// The share of its touches whose place is guessed.
  double guessed;
  StartCounts front; ///< in one go if the program prefetches, else read as touched
  StartCounts plain;

  /// Whether it is worse with the front. It may read one page and have one fault more, and also
  /// take a twentieth longer on any device.
  bool isWorse() const;
  /// The message about a start that is worse.
  std::string describe() const;
};

/// Tries starts of the output of `link`, whose sections have their places. Tries none if the
/// program is so small that all of it is read at once.
std::vector<EstimatedStart> estimateStarts(const FrontLink &link);

/// How many bytes the front saves each of the starts, at least; 0 without one.
uint64_t bytesSaved(llvm::ArrayRef<EstimatedStart> starts);

/// The start that is worst with the front; null if none is worse than without.
const EstimatedStart *worstOf(llvm::ArrayRef<EstimatedStart> starts);

} // namespace frontload
