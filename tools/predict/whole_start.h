// The cost of a start with all of its files.
//
// A prefetch list says which pages of all files a start touches, in what order, and how. The model
// of the kernel computes the cost of each file: as it is, with the list prefetched (frontload-run
// --files), and if the file had a front.
#pragma once

#include "cold_start/start_model.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace frontload {

/// Pages that follow each other in the file and in the order of first touch.
struct TouchedPages {
  uint64_t page, count;
  bool isRead; ///< by read(2), not by a mapping
};

struct FileOfStart {
  std::string path;
  uint64_t size;
  std::vector<TouchedPages> touched; ///< in the order of first touch
  /// As mapped; a file that is no ELF file is one segment.
  std::vector<FileSegment> segments;
};

/// The files of the schema "frontload-whole-start/1", which frontload predict writes:
///
///     {"schema", "files": [{"path", "size", "is_mapped": its segments are those of the file there,
///                           "touched": [[page, count, 1 if by read(2)], ...]}, ...]}
llvm::Expected<std::vector<FileOfStart>> readWholeStart(llvm::StringRef json);

/// The ranges that a list asks for: the touched pages, with the gaps that are worth it.
std::vector<FileRange> rangesOf(llvm::ArrayRef<TouchedPages> touched, const DeviceProfile &device);
/// A list's pieces of 1 MiB are one request each on a machine with memory to spare: of Debian's
/// clang on the slow disk 255 requests (by the model 241), of the same with fronts 102 (97).
inline constexpr uint64_t pagesSideBySide = 2;

/// The cost of one file, if a list asks for it beforehand or not.
struct FileCost {
  StartCounts counts;
  uint64_t asked = 0; ///< ranges that are asked for beforehand, all at once
};
FileCost costOf(const FileOfStart &file, const DeviceProfile &device, bool isListed);

/// The file if it had a front: its touched pages side by side, in the order of first touch. A real
/// front is no larger: it has only the touched functions and data of these pages.
FileOfStart withFront(const FileOfStart &file);

/// Writes the costs of each file on each device as JSON of the same schema.
void printWholeStart(llvm::ArrayRef<FileOfStart> files, llvm::ArrayRef<DeviceProfile> devices);

} // namespace frontload
