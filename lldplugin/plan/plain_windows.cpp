// What a start reads without a front, at least.
#include "plan/plain_windows.h"
#include "cold_start/io_model.h"
#include "plan/linked_sections.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <utility>

using namespace llvm;

namespace frontload {

/// No start is tried if the front reads this many times less than can be read without one at least.
static constexpr uint64_t minGain = 2;

/// With at least this many windows, averages are likely to hold.
static constexpr size_t minWindows = 32;

PlainWindows::PlainWindows(const FrontLink &link, ArrayRef<const char *> names) {
  sections.reserve(names.size());
  LinkedSections(link).forEach(names, [&](const Piece &piece, uint32_t name) {
    sections.push_back({piece.size, name, piece.output, static_cast<uint8_t>(piece.rights),
                        uint8_t(Log2_64(piece.alignment)), piece.isRead});
  });
}

uint64_t PlainWindows::bytesSaved(function_ref<bool(uint32_t)> isLive) const {
  struct Read {
    uint8_t rights;
    uint32_t output;
    uint64_t offset; ///< in the part of the output section with these rights
  };
  std::vector<Read> reads;
  std::array<std::vector<uint64_t>, numRights> ends; // by output section
  uint64_t front = 0;
  for (const Section &section : sections) {
    if (!isLive(section.name))
      continue;
    std::vector<uint64_t> &of = ends[section.rights];
    of.resize(std::max<size_t>(of.size(), section.output + 1));
    uint64_t &end = of[section.output];
    end = alignTo(end, uint64_t(1) << section.alignment) + section.size;
    if (section.isRead) {
      reads.push_back({section.rights, section.output, end - section.size});
      front += section.size;
    }
  }
  uint64_t begin = 0;
  for (std::vector<uint64_t> &of : ends)
    for (uint64_t &end : of)
      begin += std::exchange(end, begin);
  // All devices have the same readahead.
  const uint64_t windowBytes = deviceProfiles().front().readaheadBytes;
  DenseSet<uint64_t> windows;
  for (const Read &read : reads)
    windows.insert((ends[read.rights][read.output] + read.offset) / windowBytes);
  // Of two neighbouring touched windows at least one is read.
  const uint64_t read = windows.size() / 2 * windowBytes;
  return windows.size() >= minWindows && read >= minGain * front ? read - front : 0;
}

} // namespace frontload
