// What the reads of a file in an image cost.
//
// A compressed file system decompresses a file block by block, and a lazily loaded image is fetched
// chunk by chunk. This models what a missing page of a file costs there, in bytes of the image and
// bytes to decompress, and which other pages it brings along, by the rules of Linux 6.18.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace frontload {

/// What is decompressed or fetched as a whole: its bytes in the file, and in the image.
struct ImageBlock {
  uint64_t begin, end;
  uint64_t place, bytes;
};

/// The blocks of one file, by ascending offset.
struct ImageBlocks {
  /// Erofs: of lz4. ErofsWhole: of other compressors, which make a window end where a block does.
  enum Format { Squashfs, Erofs, ErofsWhole, Btrfs, Chunks } format = Chunks;
  /// What a decompressor takes of one processor, for each byte that goes in and that comes out.
  double secondsPerByteIn = 0, secondsPerByteOut = 0;
  std::vector<ImageBlock> blocks;

  /// SquashFS, btrfs and FUSE have pages in memory one by one (no mapping_set_large_folios()).
  bool hasLargeFolios() const { return format == Erofs || format == ErofsWhole; }
  /// squashfs_readahead() and z_erofs_pcluster_readmore() make a window end where a block does.
  bool expandsWindows() const { return format == Squashfs || format == ErofsWhole; }
};

/// The blocks in JSON of the schema "frontload-blocks/1", which frontload predict writes:
///
///     {"schema", "format": "squashfs", "seconds_per_byte": [in, out],
///      "blocks": [[begin, end, place, bytes], ...]}
llvm::Expected<ImageBlocks> readImageBlocks(llvm::StringRef json);

struct BlockCounts {
  uint64_t touched = 0; ///< blocks that were read
  uint64_t requests = 0, bytesRead = 0, bytesDecompressed = 0;
};

/// The state of an image's blocks.
class ImageReader {
public:
  struct Pages {
    uint64_t begin, end;
  };

  ImageReader(const ImageBlocks &image, uint64_t pageBytes);

  /// Reads a page that is not in memory. Afterwards, the pages of the result are, too. Reads of one
  /// `submission` are asked for together.
  Pages read(uint64_t page, uint64_t submission);
  /// The page behind the block of a page.
  uint64_t blockEnd(uint64_t page) const;
  const BlockCounts &counts() const { return totals; }

private:
  struct State {
    bool isFetched = false;
    uint64_t submission = 0, decompressedTo = 0;
  };

  size_t find(uint64_t page) const;
  void fetch(size_t block, uint64_t submission);
  void readIndex(const ImageBlock &block);

  const ImageBlocks &image;
  const uint64_t pageBytes;
  std::vector<State> states;
  std::vector<bool> isIndexRead; // by page of the index of EROFS
  uint64_t lastSubmission = 0, requestEnd = 0, requestPages = 0;
  BlockCounts totals;
};

} // namespace frontload
