// A linked file by its addresses.
//
// The contents of a program or shared library at an address, found by the segments as the kernel
// and the dynamic linker do, so this works for stripped files too.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace frontload {

/// A part of the file as it is mapped: a PT_LOAD.
struct FileSegment {
  uint64_t address, offset, fileBytes, memoryBytes;
  bool isExecutable;
  /// From this address on the program itself may write.
  uint64_t written = UINT64_MAX;
};

/// A part of the file by offsets or addresses: of its first byte, and one past its last.
struct FileRange {
  uint64_t begin = 0, end = 0;
  uint64_t size() const { return end - begin; }
  bool operator==(const FileRange &) const = default;
};

/// The ranges of a file that a prefetch asks for: the front, and then the tail, which is what
/// starts outside of the training are likely to need.
struct AskedRanges {
  std::vector<FileRange> front, tail;
};

uint64_t totalSize(llvm::ArrayRef<FileRange> ranges);

/// The ranges in ascending order; two become one if they overlap, or if `isRead` says of the gap
/// between them that it is read too.
std::vector<FileRange> joined(std::vector<FileRange> ranges,
                              llvm::function_ref<bool(uint64_t gap)> isRead);

/// The loadable segments of the ELF file in `bytes`; fails where a kernel or the dynamic linker
/// would not map them.
llvm::Expected<std::vector<FileSegment>> readSegments(llvm::StringRef bytes);

/// The bytes of a file, and its segments, which ascend and lie within the file.
struct LinkedFile {
  llvm::StringRef bytes;
  std::vector<FileSegment> segments;

  /// The segment that has this address in the file; null if none does.
  const FileSegment *segmentAt(uint64_t address) const;
  /// The bytes from an address to the end of its segment; empty if they are not in the file.
  llvm::StringRef at(uint64_t address) const;
  /// The table of `T` at an address, if it is in the file.
  template <class T>
  llvm::Expected<llvm::ArrayRef<T>> table(uint64_t address, uint64_t size) const {
    if (!size)
      return llvm::ArrayRef<T>();
    llvm::StringRef found = at(address);
    if (size > found.size())
      return llvm::createStringError("a table of the dynamic section is not in the file");
    return llvm::ArrayRef<T>(reinterpret_cast<const T *>(found.data()), size / sizeof(T));
  }
};

/// Calls `visitWord()` before each word of the table, and `visitPlace(address)` for each place that
/// the words say is relocated: an even word is an address to relocate, an odd one a bitmap of the
/// words behind it (System V ABI, generic part). A table of a few words may stand for many more
/// relocations than it has bytes, so this does not collect them.
template <class ELFT, class VisitWord, class VisitPlace>
void forEachPackedRelocation(llvm::ArrayRef<typename ELFT::Relr> words, VisitWord visitWord,
                             VisitPlace visitPlace) {
  using Word = typename ELFT::uint;
  Word next = 0;
  for (Word word : words) {
    visitWord();
    if (word % 2 == 0) {
      visitPlace(word);
      next = word + sizeof(Word);
      continue;
    }
    Word place = next;
    for (Word bits = word >> 1; bits; bits >>= 1, place += sizeof(Word))
      if (bits % 2)
        visitPlace(place);
    next += (8 * sizeof(Word) - 1) * sizeof(Word);
  }
}

} // namespace frontload
