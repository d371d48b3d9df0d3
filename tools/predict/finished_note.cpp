// The pages of a start, in the note of a program.
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
/// The largest request that the prefetch makes, and one where no pages are neighbors in memory:
/// the kernel divides it at 128 segments.
static constexpr uint64_t maxRequest = 1 << 20, maxScattered = maxRequest / 2;

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

/// Joins extents where bytes and requests together cost least: a request as much as `request`
/// bytes. As many requests are made as are between those with pages that are all neighbors in
/// memory, and with none. Extents ascend.
static std::vector<Extent> joinedCheaply(ArrayRef<Extent> extents, uint64_t request) {
  constexpr uint64_t maxJoined = 8 << 20; // bounds the time
  struct Way {
    uint64_t cost;
    size_t first; ///< of its last range
  };
  std::vector<Way> ways = {{0, 0}}; // the cheapest, by the number of extents
  for (size_t count = 1; count <= extents.size(); ++count) {
    const Extent &last = extents[count - 1];
    ways.push_back({UINT64_MAX, 0});
    for (size_t first = count; first-- > 0 && extents[first].segment == last.segment;) {
      uint64_t bytes = last.end - extents[first].begin;
      if (bytes > maxJoined && first + 1 < count)
        break;
      uint64_t requests = divideCeil(bytes, maxRequest) + divideCeil(bytes, maxScattered);
      uint64_t cost = ways[first].cost + bytes + request / 2 * requests;
      if (cost < ways.back().cost)
        ways.back() = {cost, first};
    }
  }
  std::vector<Extent> result;
  for (size_t end = extents.size(), first; end > 0; end = first) {
    first = ways[end].first;
    result.push_back(joined(extents.slice(first, end - first), maxJoined).front());
  }
  std::reverse(result.begin(), result.end());
  return result;
}

/// Extends each extent on both sides. Pages that a prediction misses are mostly beside others:
/// something goes on behind the end of a page. All extensions are at most a sixth of the extents,
/// which ascend, and of `bytesInAll` together with them.
static void extend(std::vector<Extent> &extents, uint64_t bytesInAll) {
  constexpr uint64_t maxAll = 2'000'000, maxSide = 32 << 10;
  const uint64_t bytes = totalBytes(extents);
  const uint64_t left = bytesInAll - std::min(bytesInAll, bytes);
  const uint64_t sides = 2 * std::max<uint64_t>(extents.size(), 1);
  const uint64_t side =
      alignDown(std::min(maxSide, std::min({left, bytes / 6, maxAll}) / sides), notedPage);
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
  extents = joined(extents, FRONTLOAD_GAP_NOTE / 2);
  // Fewer requests are worth more bytes, as long as the start reads no more than without the
  // ranges. A prediction has some pages more than are touched.
  const uint64_t readByFaults = bytesByFaults(pages);
  std::vector<Extent> found;
  for (uint64_t request = FRONTLOAD_GAP_NOTE; request <= maxGap; request += notedPage) {
    std::vector<Extent> next = joinedCheaply(extents, request);
    if (!found.empty() && totalBytes(next) > readByFaults / 32 * (found.size() > room ? 31 : 28))
      break;
    found = std::move(next);
  }
  extend(found, readByFaults / 32 * 31);
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
  std::string note = makeNote(program.bytes(), noted.ranges, {}, room);
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
