//===- front_note.h - the note that says where a file's front is -----------===//
//
// What prefetches a front has to know where it is, from the file alone. A note says so
// (instrument/format/frontload_note.h). The linker lays notes out itself if it meets one among its
// inputs, so it is given an object with a blank one, which is filled in in the output.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_FRONT_NOTE_H
#define FRONTLOAD_LLDPLUGIN_PLAN_FRONT_NOTE_H

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

/// An object with a blank note, and with `hasConstant` a byte of .data.rel.ro, for the machine that
/// `object` is for, and with the features (branch protection and the like) that it claims; empty if
/// that is no ELF object.
std::string makeNoteObject(llvm::StringRef object, bool hasConstant = false);

/// Fills in the note in the linked file whose bytes these are, with 1 to FRONTLOAD_NOTE_MAX_RANGES
/// ranges in the order in which they are to be asked for. False if the file has no note; then
/// nothing changes.
bool fillNote(llvm::MutableArrayRef<char> file, llvm::ArrayRef<FrontRange> ranges);

} // namespace frontload

#endif
