//===- front_note.h - the note that says where a file's front ends ---------===//
//
// What prefetches a front has to know how far it reaches, from the file alone. A note says so
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

/// An object with a blank note of one tier, for the machine that `object` is for, and with the
/// features (branch protection and the like) that it claims; empty if that is no ELF object.
std::string makeNoteObject(llvm::StringRef object);

/// Fills in the note of a linked file: the front ends before address `end`. Does nothing to a file
/// without the note.
void fillNote(llvm::MutableArrayRef<char> bytes, uint64_t end);

} // namespace frontload

#endif
