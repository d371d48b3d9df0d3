//===- finished_note.cpp - the pages of a start, in the note of a program --===//

#include "predict/finished_note.h"
#include "frontload_gaps.h"
#include "frontload_note.h"
#include "program/tool.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace llvm;

namespace frontload {

namespace {
/// A part of a segment, by offsets in the file.
struct Extent {
  const FileSegment *segment;
  uint64_t begin, end;
  size_t rank; ///< of its first touch
};
} // namespace

/// A page as the note counts them.
static constexpr uint64_t notedPage = 4096;
/// Reading more takes longer than another request, on a disk of 150 requests and 80 MB a second.
static constexpr uint64_t maxGap = 512 << 10;

/// Joins extents of a segment that are at most `gap` apart. They ascend.
static std::vector<Extent> joined(ArrayRef<Extent> extents, uint64_t gap) {
  std::vector<Extent> result;
  for (const Extent &extent : extents) {
    Extent *last = result.empty() ? nullptr : &result.back();
    if (!last || last->segment != extent.segment || extent.begin > last->end + gap) {
      result.push_back(extent);
      continue;
    }
    last->end = std::max(last->end, extent.end);
    last->rank = std::min(last->rank, extent.rank);
  }
  return result;
}

static uint64_t totalBytes(ArrayRef<Extent> extents) {
  uint64_t bytes = 0;
  for (const Extent &extent : extents)
    bytes += extent.end - extent.begin;
  return bytes;
}

/// How much a start that touches these pages reads by faults: each reads the default readahead,
/// half of it before the page.
static uint64_t bytesByFaults(ArrayRef<PageRange> pages) {
  constexpr uint64_t window = FRONTLOAD_GAP_NOTE / notedPage;
  DenseSet<uint64_t> read;
  for (const PageRange &range : pages)
    for (uint64_t page = range.first; page < range.first + range.count; ++page)
      if (!read.contains(page))
        for (uint64_t i = 0, first = page - std::min(page, window / 2); i < window; ++i)
          read.insert(first + i);
  return read.size() * notedPage;
}

/// Extends each extent on both sides. Pages that a prediction misses are mostly beside others:
/// something goes on behind the end of a page. All extensions are at most a sixth of the extents,
/// which ascend.
static void extend(std::vector<Extent> &extents) {
  constexpr uint64_t maxAll = 2 << 20, maxSide = 32 << 10;
  const uint64_t bytes = totalBytes(extents);
  const uint64_t sides = 2 * std::max<uint64_t>(extents.size(), 1);
  const uint64_t side =
      alignDown(std::min(maxSide, std::min(bytes / 6, maxAll) / sides), notedPage);
  for (Extent &extent : extents) {
    const FileSegment &segment = *extent.segment;
    extent.begin -= std::min(extent.begin - segment.offset, side);
    extent.end += std::min(segment.offset + segment.fileBytes - extent.end, side);
  }
  extents = joined(extents, 0);
}

NotedRanges rangesOfPages(const LinkedFile &file, ArrayRef<PageRange> pages, size_t room) {
  std::vector<Extent> extents;
  for (auto [rank, range] : enumerate(pages))
    for (const FileSegment &segment : file.segments) {
      uint64_t begin = std::max(range.first * notedPage, segment.offset);
      uint64_t end =
          std::min((range.first + range.count) * notedPage, segment.offset + segment.fileBytes);
      if (begin < end)
        extents.push_back({&segment, begin, end, rank});
    }
  llvm::sort(extents, [](const Extent &a, const Extent &b) {
    return std::pair(a.segment, a.begin) < std::pair(b.segment, b.begin);
  });
  // Fewer ranges are fewer requests, as long as they do not read more than the start without them.
  const uint64_t readByFaults = bytesByFaults(pages) / 16 * 15; // a prediction has some pages more
  std::vector<Extent> found;
  for (uint64_t gap = FRONTLOAD_GAP_NOTE; gap <= maxGap; gap += notedPage) {
    std::vector<Extent> next = joined(extents, gap);
    extend(next);
    bool isEnough = found.size() <= room || gap > FRONTLOAD_GAP_HDD;
    if (gap > FRONTLOAD_GAP_NOTE && isEnough && totalBytes(next) > readByFaults)
      break;
    found = std::move(next);
  }
  llvm::sort(found, [](const Extent &a, const Extent &b) {
    return std::pair(a.rank, a.begin) < std::pair(b.rank, b.begin);
  });
  NotedRanges result;
  result.leftOut = found.size() > room ? found.size() - room : 0;
  for (const Extent &extent : ArrayRef(found).drop_back(result.leftOut)) {
    uint64_t distance = extent.segment->address - extent.segment->offset;
    result.ranges.push_back({extent.begin + distance, extent.end + distance});
    result.bytes += extent.end - extent.begin;
  }
  return result;
}

static StringRef noteIn(const ProgramFile &program, size_t room) {
  return orExit(findNote(program.bytes(), room), program.path + ": ", linkedFileNote);
}

bool isToBeFinished(const ProgramFile &program) {
  if (StringRef front = noteIn(program, FRONTLOAD_NOTE_FRONT_RANGES); !isBlank(front)) {
    outs() << program.path << ": has a front by ld.frontload, which stays\n";
    return false;
  }
  if (noteIn(program, FRONTLOAD_NOTE_MAX_RANGES).empty())
    fail(exitData, program.path + ": has no room for a note",
         "link with frontload-cc, or with lib/frontload/note.o of Frontload beside your objects");
  return true;
}

void finish(const ProgramFile &program, ArrayRef<PageRange> pages) {
  constexpr size_t room = FRONTLOAD_NOTE_MAX_RANGES;
  std::vector<FileSegment> segments =
      orExit(readSegments(program.bytes()), program.path + ": ", linkedFileNote);
  NotedRanges noted = rangesOfPages({program.bytes(), segments}, pages, room);
  StringRef present = noteIn(program, room);
  std::string note = makeNote(program.bytes(), noted.ranges, room);
  if (present != note) {
    int file;
    std::error_code error = sys::fs::openFileForReadWrite(
        program.path, file, sys::fs::CD_OpenExisting, sys::fs::OF_None);
    // One call, so that the note is whole or as it was.
    if (!error && pwrite(file, note.data(), note.size(), present.data() - program.bytes().data()) !=
                      ssize_t(note.size()))
      error = errnoAsErrorCode();
    if (error)
      fail(exitUsage, program.path + ": " + error.message(),
           "finish a file that can be written and is not running");
    close(file);
  }
  outs() << program.path << ": asks for " << noted.ranges.size() << " ranges, "
         << format("%.2f MB", static_cast<double>(noted.bytes) / 1e6) << ", when it starts";
  if (noted.leftOut)
    outs() << "; no room for " << noted.leftOut << " that are touched later";
  outs() << '\n';
}

} // namespace frontload
