//===- front_weighing.h - whether a file is better with its front ----------===//
//
// A front makes a large program start with a tenth of the reads. A small one, or one that touches
// nearly all it has, or a table here and there, may have to read more with a front than without: it
// reads the parts that one run in three needs, tables whole, and what fills the pages of segments.
// So both files are started in the model of the kernel (cold_start/start_model.h), the one that was
// linked and the one that would have been linked without a front.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_FRONT_WEIGHING_H
#define FRONTLOAD_LLDPLUGIN_PLAN_FRONT_WEIGHING_H

#include "cold_start/start_model.h"
#include "plan/front_link.h"
#include "plan/output_check.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

/// A start that was tried with the front, and without.
struct WeighedStart {
  /// The start touches nothing that less than this share of the runs touches.
  double share;
  /// The share of its touches whose place is guessed.
  double guessed;
  StartCounts front; ///< in one go if the program prefetches, else read as touched
  StartCounts plain;

  /// Whether it is worse with the front, which has `moreFilling` more bytes to fill pages.
  bool isWorse(uint64_t moreFilling) const;
};

/// All starts that were tried.
struct Weighing {
  std::vector<WeighedStart> starts;
  /// How many more bytes fill pages between segments with the front.
  uint64_t moreFilling = 0;

  /// The start that is worst with the front; null if none is worse than without. A start may read
  /// one page, one fault and the filling more, and also take a twentieth longer on any device.
  const WeighedStart *worst() const;
};

/// Weighs the front of the program in `linked`, whose note is filled. Tries no start if the program
/// is so small that all of it is read at once, or so large that the front is clearly better.
llvm::Expected<Weighing> weighFront(llvm::StringRef linked, const Front &front,
                                    const FrontLink &link);

/// The message about a start that is worse with the front.
std::string describe(const WeighedStart &start);

} // namespace frontload

#endif
