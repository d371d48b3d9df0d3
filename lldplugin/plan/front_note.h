// The note that says where a file's front is.
//
// The prefetch code has to find the front from the file alone: a note has its place
// (instrument/format/frontload_note.h). The linker lays out a note that is among its inputs, so it
// gets an object with a blank note, which is filled in in the output.
#pragma once

#include "elf/linked_file.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace frontload {

/// An object with a blank note, for the machine of `object` and with the features (branch
/// protection and the like) that it claims; with `hasConstant`, also with a byte of .data.rel.ro.
/// Empty if `object` is no ELF object.
std::string makeNoteObject(llvm::StringRef object, bool hasConstant = false);

/// Fills in the note of the linked `file` with the ranges of the front and of its tail, 1 to
/// FRONTLOAD_NOTE_FRONT_RANGES in all, by addresses and in the order of the prefetch. The linker
/// has made the build-id of the file with a blank note. Unless `keepsBuildId`, the build-id becomes
/// a hash of itself and the ranges, so that files with different notes differ in it. Returns false,
/// and changes nothing, if the file has no note.
bool fillNote(llvm::MutableArrayRef<char> file, llvm::ArrayRef<FileRange> front,
              llvm::ArrayRef<FileRange> tail = {}, bool keepsBuildId = false);

/// The note with this room in the linked `file`; empty if it has none.
llvm::Expected<llvm::StringRef> findNote(llvm::StringRef file, size_t room);

/// Whether a note has no ranges yet.
bool isBlank(llvm::StringRef note);

/// The bytes of a note with `room` in the ELF `file`, which begins with these ranges.
std::string makeNote(llvm::StringRef file, llvm::ArrayRef<FileRange> front,
                     llvm::ArrayRef<FileRange> tail, size_t room);

} // namespace frontload
