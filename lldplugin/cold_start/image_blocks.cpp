// What the reads of a file in an image cost.
//
// Each rule names the function of Linux that it follows.
#include "cold_start/image_blocks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

/// SQUASHFS_DEVBLK_SIZE: squashfs_bio_read() reads whole sectors of this size.
static constexpr uint64_t squashfsSector = 1024;
/// BLK_MAX_SEGMENTS of include/linux/blkdev.h: compressed bytes are read into single pages. Pages
/// that happen to lie side by side are one piece, so there may be fewer requests.
static constexpr uint64_t maxPieces = 128;
/// EROFS's index has two bytes for each 4 KiB of a file (Z_EROFS_ADVISE_COMPACTED_2B).
static constexpr uint64_t erofsIndexPage = 4096, erofsIndexed = erofsIndexPage / 2 * 4096;

static bool isSound(const std::vector<uint64_t> &row, uint64_t end) {
  return row.size() == 4 && row[0] >= end && row[1] > row[0] && row[2] <= INT64_MAX &&
         row[3] <= INT64_MAX;
}

Expected<ImageBlocks> readImageBlocks(StringRef text) {
  auto value = json::parse(text);
  if (!value)
    return value.takeError();
  json::Path::Root root("blocks");
  json::ObjectMapper map(*value, root);
  std::string schema, format;
  ImageBlocks image;
  std::vector<double> rates;
  std::vector<std::vector<uint64_t>> rows;
  if (!map || !map.map("schema", schema) || schema != "frontload-blocks/1")
    return createStringError("is no \"frontload-blocks/1\"");
  if (!map.map("format", format) || !map.map("seconds_per_byte", rates) || !map.map("blocks", rows))
    return root.getError();
  auto known = StringSwitch<std::optional<ImageBlocks::Format>>(format)
                   .Case("squashfs", ImageBlocks::Squashfs)
                   .Case("erofs", ImageBlocks::Erofs)
                   .Case("erofs-whole", ImageBlocks::ErofsWhole)
                   .Case("btrfs", ImageBlocks::Btrfs)
                   .Case("chunks", ImageBlocks::Chunks)
                   .Default(std::nullopt);
  if (!known)
    return createStringError("\"" + format + "\" is no format of an image");
  if (rates.size() != 2 || !all_of(rates, [](double rate) { return rate >= 0 && rate < 1; }))
    return createStringError("\"seconds_per_byte\" are not two small numbers");
  image.secondsPerByteIn = rates[0];
  image.secondsPerByteOut = rates[1];
  image.format = *known;
  uint64_t end = 0;
  for (const std::vector<uint64_t> &row : rows) {
    if (!isSound(row, end))
      return createStringError("\"blocks\" do not ascend, or are not of four numbers");
    image.blocks.push_back({row[0], row[1], row[2], row[3]});
    end = row[1];
  }
  return image;
}

ImageReader::ImageReader(const ImageBlocks &blocks, uint64_t bytesOfPage)
    : image(blocks), pageBytes(bytesOfPage), states(blocks.blocks.size()),
      isIndexRead(blocks.blocks.empty() ? 1 : blocks.blocks.back().end / erofsIndexed + 1) {
  isIndexRead.front() = true; // with the inode, before the start
}

size_t ImageReader::find(uint64_t page) const {
  auto found = partition_point(
      image.blocks, [&](const ImageBlock &block) { return block.end <= page * pageBytes; });
  return found - image.blocks.begin();
}

uint64_t ImageReader::blockEnd(uint64_t page) const {
  size_t block = find(page);
  return block == states.size() ? page + 1 : divideCeil(image.blocks[block].end, pageBytes);
}

/// z_erofs_map_blocks_iter() waits for each page of the index (erofs_bread()).
void ImageReader::readIndex(const ImageBlock &block) {
  if (image.format != ImageBlocks::Erofs && image.format != ImageBlocks::ErofsWhole)
    return;
  for (uint64_t at = block.begin / erofsIndexed; at <= (block.end - 1) / erofsIndexed; ++at) {
    totals.requests += !isIndexRead[at];
    totals.bytesRead += isIndexRead[at] ? 0 : erofsIndexPage;
    isIndexRead[at] = true;
  }
}

void ImageReader::fetch(size_t number, uint64_t submission) {
  const ImageBlock &block = image.blocks[number];
  readIndex(block);
  uint64_t begin = block.place, end = block.place + block.bytes;
  if (image.format == ImageBlocks::Squashfs) {
    begin = alignDown(begin, squashfsSector);
    end = alignTo(end, squashfsSector);
  }
  // squashfs_bio_read() waits for each block, and so does a reader of chunks. The others ask for
  // neighbors together.
  bool isAlone = image.format == ImageBlocks::Squashfs || image.format == ImageBlocks::Chunks;
  totals.touched += !states[number].isFetched;
  if (isAlone || submission != lastSubmission || begin != requestEnd)
    requestPages = 0;
  uint64_t before = divideCeil(requestPages, maxPieces);
  requestPages +=
      image.format == ImageBlocks::Chunks ? 1 : divideCeil(end, pageBytes) - begin / pageBytes;
  totals.requests += divideCeil(requestPages, maxPieces) - before;
  totals.bytesRead += end - begin;
  states[number].isFetched = true;
  lastSubmission = submission;
  requestEnd = end;
}

ImageReader::Pages ImageReader::read(uint64_t page, uint64_t submission) {
  const uint64_t end = (page + 1) * pageBytes;
  Pages brought = {page, page + 1};
  for (size_t number = find(page); number < states.size(); ++number) {
    const ImageBlock &block = image.blocks[number];
    if (block.begin >= end)
      break;
    State &state = states[number];
    const bool isAsked = state.submission == submission;
    // btrfs_submit_compressed_read() keeps nothing of what it read. The managed cache of EROFS has
    // the pclusters that were needed in part (z_erofs_should_alloc_cache()).
    if (!state.isFetched || (image.format == ImageBlocks::Btrfs && !isAsked))
      fetch(number, submission);
    uint64_t first = divideCeil(block.begin, pageBytes), last = divideCeil(block.end, pageBytes);
    uint64_t from = block.begin, to = block.end;
    switch (image.format) {
    case ImageBlocks::Chunks:
      from = to; // it lies there as it is
      break;
    case ImageBlocks::Squashfs: // squashfs_readahead(), squashfs_copy_cache()
      brought.begin = std::min(brought.begin, first);
      brought.end = std::max(brought.end, last);
      if (isAsked)
        from = to;
      break;
    case ImageBlocks::Erofs: // z_erofs_pcluster_readmore() of the first page, partial decoding
    case ImageBlocks::ErofsWhole:
      brought.begin = std::min(brought.begin, first);
      to = std::min(to, end);
      if (isAsked)
        from = std::min(state.decompressedTo, to);
      break;
    case ImageBlocks::Btrfs: // add_ra_bio_pages() adds the pages behind, not those before
      brought.end = std::max(brought.end, last);
      if (isAsked)
        from = to;
      break;
    }
    totals.bytesDecompressed += to - from;
    state.submission = submission;
    state.decompressedTo = to;
  }
  return brought;
}

} // namespace frontload
