// What must hold in a file with a front.
//
// Moving sections can break a program in ways that its author's tests would not find at once. These
// are the known ways. Each linked file is checked for them before it takes its place.
#pragma once

#include "plan/front_note.h"
#include "startup_set/front_worth.h"
#include "startup_set/hot_strings.h"
#include "startup_set/search.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace frontload {

/// Where the front of a linked file is.
struct Front {
  /// The file offset of the first byte behind it.
  uint64_t bytes = 0;
  /// The ranges to read, by addresses, which ascend. The front has more than one if reading the
  /// bytes in between costs more than a request. Behind it are the parts of left-out sections that
  /// startup touches.
  std::vector<FileRange> ranges;
  /// What other starts are likely to touch, to be read behind all these: the parts of the front
  /// that not all runs touch, and the tail.
  std::vector<FileRange> tail;
  /// How many of its bytes are merged strings.
  uint64_t strings = 0;
  /// The bytes of the ranges that no startup is known to need: of sections that neither the profile
  /// nor anything that it names led to, and that no loader reads.
  uint64_t unnamed = 0;
  /// Padding in the file that is not worth reading: the section behind it, and its bytes.
  std::vector<std::pair<std::string, uint64_t>> padding;
  /// Whether the address of each loaded byte is its offset and one constant.
  bool isLinear = false;

  /// How many bytes are to be read.
  uint64_t read() const { return totalSize(ranges); }
  /// Leaves at most `most` bytes of the tail, in whole pages, and no more ranges than a note has
  /// room for.
  void limitTail(uint64_t most);
  /// Whether enough of these are unnamed for a warning: a quarter, and more than a window.
  bool isMostlyUnnamed() const { return unnamed > windowBytes && unnamed > read() / 4; }
};

/// What a link knows of its output.
struct OutputFacts {
  /// Sections that are not wanted in the front, by name.
  llvm::ArrayRef<std::string> unwanted = {};
  /// The bytes that are wanted of sections of the front, from their beginnings, by name. Sections
  /// that are not listed are wanted whole.
  llvm::StringMap<uint64_t> wantedBytes = {};
  /// Where the tail lies in .text, behind the front's code, and in .rodata.
  llvm::StringMap<Stretch> tail = {};
  /// The parts of .rodata to read, in ascending order.
  llvm::ArrayRef<ExpectedPart> parts = {};
};

/// Checks the ELF file in `bytes`, and finds its front. Those of `strings` that begin the merged
/// strings belong to the front, and count as placed. Fails if:
/// * .eh_frame_hdr is not sorted by address: unwinding would miss functions and end in terminate.
/// * a section of the front lies behind one of the rest in the file, or its code ends elsewhere.
llvm::Expected<Front> checkOutput(llvm::StringRef bytes, const OutputFacts &facts,
                                  HotStrings &strings);

} // namespace frontload
