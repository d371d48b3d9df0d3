// The pages of a start, in the note of a program.
//
// A linker other than ld.frontload passes a blank note through (instrument/prefetch/note.c). After
// the link, the parts of the file that a start touches are written into it. Nothing else in the
// file changes, so its build-id, which the linker made over the blank note, still names its code,
// and a debug file made before still fits.
#pragma once

#include "elf/linked_file.h"
#include "plan/front_note.h"
#include "predict/prediction.h"
#include "predict/startup_pages.h"

namespace frontload {

/// The parts of a file to ask for.
struct NotedRanges {
  std::vector<FileRange> ranges; ///< by addresses, in order of first touch
  uint64_t bytes = 0;            ///< of the ranges
  size_t leftOut = 0;            ///< ranges touched later, for which there was no room
};

/// At most `room` ranges that have all of these pages: where pages are near, what lies between them
/// is read too.
NotedRanges rangesOfPages(const LinkedFile &file, llvm::ArrayRef<PageRange> pages, size_t room);

/// Whether the note of `program` is to be filled in: not if ld.frontload has given it a front. A
/// program without room for a note ends this one.
bool isToBeFinished(const ProgramFile &program);

/// Writes the ranges of these pages into the note, and prints what was written. A file that cannot
/// be written ends the program. Written again, the same note leaves the file alone.
void finish(const ProgramFile &program, llvm::ArrayRef<PageRange> pages);

} // namespace frontload
