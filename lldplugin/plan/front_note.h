//===- front_note.h - the note that says where a file's front is -----------===//
//
// The prefetch code has to find the front from the file alone: a note has its place
// (instrument/format/frontload_note.h). The linker lays out a note that is among its inputs, so it
// gets an object with a blank note, which is filled in in the output.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace frontload {

/// A part of the front, by addresses: of its first byte, and one past its last.
struct FrontRange {
  uint64_t begin = 0, end = 0;
  bool operator==(const FrontRange &) const = default;
};

/// An object with a blank note, for the machine of `object` and with the features (branch
/// protection and the like) that it claims; with `hasConstant`, also with a byte of .data.rel.ro.
/// Empty if `object` is no ELF object.
std::string makeNoteObject(llvm::StringRef object, bool hasConstant = false);

/// Fills in the note of the linked `file` with 1 to FRONTLOAD_NOTE_MAX_RANGES ranges, in the order
/// of the prefetch. The linker has made the build-id of the file with a blank note. Unless
/// `keepsBuildId`, the build-id becomes a hash of itself and the ranges, so that files with
/// different notes differ in it. Returns false, and changes nothing, if the file has no note.
bool fillNote(llvm::MutableArrayRef<char> file, llvm::ArrayRef<FrontRange> ranges,
              bool keepsBuildId = false);

} // namespace frontload
