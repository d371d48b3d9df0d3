// What a file in a compressed or chunked image costs, block by block.
#include "cold_start/start_model.h"
#include "llvm/Support/Error.h"
#include <gtest/gtest.h>

using namespace frontload;

namespace {

constexpr uint64_t page = 4096;
constexpr DeviceProfile device = {"test", 0, 1, "", 1, 0, 8 * page, 4 * page, page};

/// Blocks of `pages` each, of a hundredth as many bytes, of a file of 64 pages.
ImageBlocks blocksOf(ImageBlocks::Format format, uint64_t pages) {
  ImageBlocks image{format, 1e-3, 1e-6, {}};
  for (uint64_t first = 0; first < 64; first += pages)
    image.blocks.push_back({first * page, (first + pages) * page, 100 + first * page, pages * 41});
  return image;
}

/// A file that is one segment of data, in an image.
struct InImage {
  InImage(ImageBlocks::Format format, uint64_t pages)
      : image(blocksOf(format, pages)),
        model(device, 64 * page, FileSegment{0, 0, 64 * page, 64 * page, false}, &image) {}
  StartCounts read(std::initializer_list<uint64_t> pages) {
    for (uint64_t each : pages)
      model.read(each * page);
    return model.counts();
  }
  uint64_t cached() const {
    uint64_t count = 0;
    for (uint64_t i = 0; i < 64; ++i)
      count += model.isCached(i);
    return count;
  }

  ImageBlocks image;
  StartModel model;
};

// A window of pages 16 to 23 lies in one block of 16 pages, one of 28 to 35 in two.
TEST(ImageBlocks, SquashfsDecompressesWholeBlocksOnce) {
  InImage file(ImageBlocks::Squashfs, 16);
  StartCounts counts = file.read({20});
  EXPECT_EQ(counts.blocks, 1u);
  EXPECT_EQ(file.cached(), 16u);
  EXPECT_EQ(counts.bytesRead, 1024u); // 656 bytes, in sectors of 1 KiB
  counts = file.read({40, 33, 47});
  EXPECT_EQ(counts.blocks, 2u);
  EXPECT_EQ(counts.requests, 2u);
  EXPECT_EQ(counts.bytesDecompressed, 32 * page);
  EXPECT_DOUBLE_EQ(counts.secondsOn(device),
                   32 * page * 1e-6 + counts.bytesRead * 1e-3 + counts.bytesRead);
  EXPECT_EQ(counts.majorFaults, 2u);
}

// A page that is read after the tail was asked for changes nothing of what the tail cost.
TEST(ImageBlocks, TheTailIsNotAwaitedByLaterReads) {
  InImage file(ImageBlocks::Squashfs, 16);
  file.model.prefetch(FileRange{0, 4 * page}, FileRange{48 * page, 64 * page});
  const uint64_t unawaited = file.read({20}).unawaitedBytes;
  EXPECT_EQ(unawaited, 1024u); // a block
  EXPECT_EQ(file.read({36}).unawaitedBytes, unawaited);
}

// Its readahead goes on behind the block, as far as the last one, and where it ends with a block,
// the next one is read.
TEST(ImageBlocks, SquashfsReadsAheadBehindTheBlock) {
  InImage file(ImageBlocks::Squashfs, 16);
  EXPECT_EQ(file.read({20}).blocks, 1u);
  EXPECT_EQ(file.read({22}).blocks, 3u); // a fourth before the window's end: 32 to 47
  EXPECT_EQ(file.cached(), 48u);
}

TEST(ImageBlocks, ErofsDecompressesAsFarAsItIsNeeded) {
  InImage file(ImageBlocks::Erofs, 16);
  StartCounts counts = file.read({24}); // 20 to 27
  EXPECT_EQ(file.cached(), 12u);
  EXPECT_EQ(counts.bytesDecompressed, 12 * page);
  counts = file.read({30}); // 26 to 33: the same block again, which is not read again
  EXPECT_EQ(counts.blocks, 2u);
  EXPECT_EQ(counts.bytesDecompressed, (12 + 16 + 2) * page);
  EXPECT_EQ(counts.bytesRead, 2 * 656u);
}

// Of a file of 20 MiB, the index has three pages, the first with the inode.
TEST(ImageBlocks, ErofsReadsItsIndex) {
  ImageBlocks image{ImageBlocks::Erofs, 0, 0, {}};
  for (uint64_t begin = 0; begin < 20 << 20; begin += 1 << 20)
    image.blocks.push_back({begin, begin + (1 << 20), begin / 8, page});
  ImageReader reader(image, page);
  for (uint64_t place : {1, 9, 10, 7, 19})
    reader.read((place << 20) / page, place);
  EXPECT_EQ(reader.counts().touched, 5u);
  EXPECT_EQ(reader.counts().requests, 5u + 2);
  EXPECT_EQ(reader.counts().bytesRead, 7 * page);
}

// The page that a window ends with has the beginning of another block, which is read for it alone.
TEST(ImageBlocks, ErofsWindowsEndWithABlockUnlessOfLz4) {
  InImage file(ImageBlocks::ErofsWhole, 16);
  for (ImageBlock &block : file.image.blocks) {
    block.begin += block.begin ? page / 2 : 0;
    block.end += page / 2;
  }
  StartCounts counts = file.read({24}); // 20 to 27 become 17 to 32
  EXPECT_EQ(file.cached(), 16u);
  EXPECT_EQ(counts.blocks, 2u);
  EXPECT_EQ(counts.bytesDecompressed, 16 * page + page / 2);
}

TEST(ImageBlocks, BtrfsReadsAnExtentAgainForThePagesBefore) {
  InImage file(ImageBlocks::Btrfs, 16);
  StartCounts counts = file.read({28}); // 24 to 31, the end of the extent
  EXPECT_EQ(file.cached(), 8u);
  counts = file.read({18});
  EXPECT_EQ(counts.blocks, 2u); // 14 to 21, in two extents
  EXPECT_EQ(counts.bytesRead, 3 * 656u);
}

TEST(ImageBlocks, ChunksAreFetchedOnce) {
  InImage file(ImageBlocks::Chunks, 32);
  StartCounts counts = file.read({1, 20, 40, 60, 12});
  EXPECT_EQ(counts.blocks, 2u);
  EXPECT_EQ(counts.requests, 2u);
  EXPECT_EQ(counts.bytesDecompressed, 0u);
}

TEST(ImageBlocks, OnlySoundBlocksAreAccepted) {
  auto read = [](llvm::StringRef format, llvm::StringRef blocks) {
    auto image = readImageBlocks((R"({"schema": "frontload-blocks/1", "format": ")" + format +
                                  R"(", "seconds_per_byte": [0, 1e-9], "blocks": )" + blocks + "}")
                                     .str());
    return image ? "" : llvm::toString(image.takeError());
  };
  EXPECT_EQ(read("erofs", "[[0, 10, 5, 3], [10, 20, 8, 4]]"), "");
  for (const char *blocks : {"[[0, 0, 5, 3]]", "[[0, 9, 1, 1], [8, 10, 1, 1]]", "[[0, 10, 5]]"})
    EXPECT_EQ(read("btrfs", blocks), "\"blocks\" do not ascend, or are not of four numbers");
  EXPECT_EQ(read("zip", "[]"), "\"zip\" is no format of an image");
}

} // namespace
