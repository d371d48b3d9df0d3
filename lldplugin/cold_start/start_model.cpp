// The kernel's reads in a cold start.
//
// Each function names the one of Linux whose rule it states. The windows that it computes were
// compared with the tracepoints filemap:mm_filemap_fault and filemap:mm_filemap_add_to_page_cache.
#include "cold_start/start_model.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

/// MMAP_LOTSAMISS of mm/filemap.c: with more misses than this, beyond hits, one page is read.
static constexpr unsigned maxMisses = 100;
static constexpr uint64_t maxSegments = 128, maxSegmentBytes = 64 << 10;
/// LARGE_PIECE (the size of a request), SMALL_FRONT and PROBES of instrument/prefetch/front.c.
static constexpr uint64_t prefetchPiece = 1 << 20, prefetchUnseen = 1 << 20;
static constexpr unsigned prefetchProbes = 16;
/// MAX_PAGECACHE_ORDER of <linux/pagemap.h>
static constexpr unsigned maxFolioOrder = 9;
/// BLK_DEF_MAX_SECTORS_CAP of block/blk.h
static constexpr uint64_t maxRequest = 1280 << 10;

StartModel::StartModel(const DeviceProfile &profile, uint64_t fileBytes,
                       ArrayRef<FileSegment> fileSegments, const ImageBlocks *blocks)
    : device(profile), kernel(profile.kernel),
      maxWindow(profile.readaheadBytes / profile.pageBytes), segments(fileSegments),
      cache(divideCeil(fileBytes, profile.pageBytes)), image(blocks) {
  if (image)
    reader.emplace(*image, device.pageBytes);
}

void StartModel::endRequest() {
  requestEnd = UINT64_MAX;
  ++submission;
}

const FileSegment *StartModel::segmentOf(uint64_t address) const {
  auto next = partition_point(segments, [&](const FileSegment &segment) {
    return pageOf(segment.address) <= pageOf(address);
  });
  if (next == segments.begin())
    return nullptr;
  const FileSegment &segment = *std::prev(next);
  // A page that the file has a part of is mapped whole.
  bool isInFile =
      segment.fileBytes && pageOf(address) <= pageOf(segment.address + segment.fileBytes - 1);
  return isInFile ? &segment : nullptr;
}

/// load_elf_binary() of fs/binfmt_elf.c reads the first page by kernel_read(), and that of the
/// interpreter's name. elf_load() zeros the rest of a segment's last page.
void StartModel::execute(uint64_t interpreter) {
  if (cache.empty())
    return;
  // page_cache_sync_ra() and get_init_ra_size() of mm/readahead.c, for the first page of a file.
  uint64_t size = maxWindow >= 32 ? 4 : maxWindow >= 4 ? 2 : std::max<uint64_t>(maxWindow, 1);
  window = {0, size, size - 1, 0};
  submit();
  readFile(0, 1); // filemap_get_pages() of mm/filemap.c looks at what it has just read
  readFile(pageOf(interpreter), 1);
  for (const FileSegment &segment : segments)
    if (segment.memoryBytes > segment.fileBytes &&
        (segment.address + segment.fileBytes) % device.pageBytes)
      write(segment.address + segment.fileBytes);
}

/// force_page_cache_ra() of mm/readahead.c: no page is marked. instrument/prefetch/front.c first
/// looks at some pages of a large front, from the last one on, until one is missing. Looking at a
/// page reads it.
void StartModel::prefetch(ArrayRef<FileRange> front, ArrayRef<FileRange> tail) {
  std::vector<FileRange> ranges;
  for (FileRange range : front) {
    range.end = std::min<uint64_t>(range.end, cache.size() * device.pageBytes);
    if (range.begin < range.end)
      ranges.push_back(range);
  }
  uint64_t bytes = totalSize(ranges);
  auto probed = [&](unsigned probe) {
    uint64_t left = std::max<uint64_t>(bytes * probe / prefetchProbes, 1) - 1;
    const FileRange *range = ranges.data();
    for (; left >= range->size(); ++range)
      left -= range->size();
    return pageOf(range->begin + left);
  };
  if (bytes > prefetchUnseen) {
    unsigned probe = prefetchProbes;
    while (probe > 0 && cache[probed(probe)].isCached)
      --probe;
    if (probe == 0)
      return;
    addPages(probed(probe), 1, 0);
  }
  askFor(ranges, 1);
  unaskedTail.assign(tail.begin(), tail.end());
}

/// instrument/prefetch/tail.c asks for it at the first fault that reads. The device reads it last,
/// so a program that touches a page of it waits for those before.
void StartModel::askForTail() {
  const std::vector<FileRange> ranges = std::exchange(unaskedTail, {});
  if (ranges.empty())
    return;
  const uint64_t before = requests(), queued = totals.queuedRequests;
  const BlockCounts cost = reader ? reader->counts() : BlockCounts();
  for (FileRange range : ranges) {
    uint64_t end = std::min<uint64_t>(divideCeil(range.end, device.pageBytes), cache.size());
    for (uint64_t page = pageOf(range.begin); page < end; ++page)
      if (!cache[page].isCached)
        cache[page].ofTail = ++tailPages;
    askFor(range, 1);
  }
  totals.queuedRequests = queued + requests() - before;
  if (reader) {
    tailCost.bytesRead = reader->counts().bytesRead - cost.bytesRead;
    tailCost.bytesDecompressed = reader->counts().bytesDecompressed - cost.bytesDecompressed;
  }
}

void StartModel::askFor(ArrayRef<FileRange> ranges, uint64_t pagesSideBySide) {
  uint64_t before = requests(), piece = pageOf(prefetchPiece);
  for (FileRange range : ranges) {
    uint64_t end = std::min<uint64_t>(divideCeil(range.end, device.pageBytes), cache.size());
    for (uint64_t first = pageOf(range.begin); first < end; first += piece) {
      endRequest();
      uint64_t count = std::min(piece, end - first);
      addPages(first, count + expansion(first + count), 0, pagesSideBySide);
    }
  }
  if (!image || image->format != ImageBlocks::Squashfs) // which waits for each block
    totals.queuedRequests += requests() - std::min(requests(), before + 1);
}

/// Writable data counts as written: programs hardly ever only read it, and what a start reads
/// before the first write is on the same page.
void StartModel::use(uint64_t address) {
  const FileSegment *segment = segmentOf(address);
  touch(address, segment && address >= segment->written);
}

void StartModel::touch(uint64_t address, bool isWrite) {
  const FileSegment *segment = segmentOf(address);
  if (!segment)
    return;
  const uint64_t page = pageOf(segment->offset) + pageOf(address) - pageOf(segment->address);
  awaitedPages = std::max(awaitedPages, cache[page].ofTail);
  Mapping &mapping = mappings[pageOf(address)];
  if (mapping == Mapping::Private || (mapping == Mapping::ReadOnly && !isWrite))
    return;
  if (mapping == Mapping::ReadOnly) { // do_wp_page() of mm/memory.c copies the mapped page
    mapping = Mapping::Private;
    ++totals.minorFaults;
    return;
  }
  // do_read_fault() tries fault-around first, do_cow_fault() does not.
  auto tryAround = [&](bool hasJustRead) {
    if (!isWrite)
      mapAround(address, *segment, hasJustRead);
    return mappings[pageOf(address)] != Mapping::None;
  };
  if (tryAround(false)) {
    ++totals.minorFaults;
    return;
  }
  // filemap_fault() of mm/filemap.c
  bool isMissing = !cache[page].isCached, isMajor = isMissing;
  if (isMissing) {
    readAround(page, *segment);
  } else {
    if (kernel.countsHitsAround() || !segment->isExecutable)
      misses -= misses > 0;
    if (cache[folioOf(page)].isMarked) {
      readAhead(page);
      isMajor = kernel.everyWaitIsMajor();
    }
  }
  // A fault that read is tried again from its beginning. Where faults lock no more than their
  // mapping (CONFIG_PER_VMA_LOCK), that makes it a major one only if its own page was missing:
  // do_user_addr_fault() of arch/x86/mm/fault.c sets FAULT_FLAG_TRIED, mm_account_fault() of
  // mm/memory.c counts it.
  ++(isMajor ? totals.majorFaults : totals.minorFaults);
  if (isMissing)
    askForTail();
  if (!tryAround(isMissing))
    mappings[pageOf(address)] = isWrite ? Mapping::Private : Mapping::ReadOnly;
}

/// do_fault_around() of mm/memory.c, filemap_map_pages() and next_uptodate_folio() of mm/filemap.c:
/// maps pages that are in memory and not marked. With pages of 64 KiB, should_fault_around() leaves
/// the page to filemap_fault(). There, a fault that is tried again after its read is no hit.
void StartModel::mapAround(uint64_t address, const FileSegment &segment, bool hasJustRead) {
  if (device.faultAroundBytes <= device.pageBytes)
    return;
  uint64_t aligned = alignDown(address, device.faultAroundBytes);
  uint64_t first = std::max(pageOf(aligned), pageOf(segment.address));
  uint64_t last = std::min(pageOf(aligned + device.faultAroundBytes - 1),
                           pageOf(segment.address + segment.fileBytes - 1));
  uint64_t filePage = pageOf(segment.offset) + first - pageOf(segment.address);
  for (uint64_t page = first; page <= last; ++page, ++filePage) {
    if (!cache[filePage].isCached || cache[folioOf(filePage)].isMarked)
      continue;
    misses -= misses > 0 && (kernel.countsHitsAround() ||
                             (page == pageOf(address) && !hasJustRead && !segment.isExecutable));
    Mapping &mapping = mappings[page];
    if (mapping == Mapping::None)
      mapping = Mapping::ReadOnly;
  }
}

/// do_sync_mmap_readahead() of mm/filemap.c. Since Linux 6.17 ("mm/filemap: allow arch to request
/// folio size for exec memory") code is read from the folio of the page on, and no further than it
/// is mapped.
void StartModel::readAround(uint64_t page, const FileSegment &segment) {
  bool isCounted = kernel.countsHitsAround() || !segment.isExecutable;
  misses += isCounted && misses < maxMisses * 10;
  if ((isCounted && misses > maxMisses) || !maxWindow) {
    endRequest();
    addPages(page, 1, 0);
    return;
  }
  if (segment.isExecutable && !kernel.readsAroundCode()) {
    uint64_t folio = std::max<uint64_t>(pageOf(kernel.codeFolioBytes), 1);
    uint64_t first = std::max(alignDown(page, folio), pageOf(segment.offset));
    uint64_t end = std::min(alignTo(first + maxWindow, folio),
                            pageOf(segment.offset + segment.fileBytes - 1) + 1);
    window = {first, end - first, 0, Log2_64(folio)};
  } else {
    window = {page - std::min(page, maxWindow / 2), maxWindow, maxWindow / 4, 0};
  }
  submit();
}

/// filemap_get_pages() of mm/filemap.c, for each page that is wanted.
void StartModel::readFile(uint64_t first, uint64_t count) {
  uint64_t end = std::min<uint64_t>(first + count, cache.size());
  for (uint64_t page = first; page < end; ++page) {
    if (!cache[page].isCached)
      readMissing(page, end - page);
    else if (cache[folioOf(page)].isMarked)
      readAhead(page);
    lastRead = page;
  }
}

/// page_cache_sync_ra() and get_init_ra_size() of mm/readahead.c
void StartModel::readMissing(uint64_t page, uint64_t count) {
  uint64_t most = maxWindow;
  if (count > most) // one read may be as large as a request
    most = std::min(count, std::max(most, pageOf(maxRequest)));
  if (!maxWindow) {
    endRequest();
    addPages(page, std::min(count, most ? most : count), 0);
    return;
  }
  bool isSequential = lastRead != UINT64_MAX && page - lastRead <= 1;
  if (page == 0 || count > most || isSequential) {
    uint64_t size = PowerOf2Ceil(count);
    size = size <= most / 32 ? size * 4 : size <= most / 4 ? size * 2 : most;
    window = {page, size, size > count ? size - count : size / 2, 0};
    submit();
    return;
  }
  uint64_t before = 0; // how many pages before this one are in memory
  while (before < most && before < page && cache[page - 1 - before].isCached)
    ++before;
  if (before <= count) { // a small read of its own
    endRequest();
    addPages(page, count, 0);
    return;
  }
  if (before == page)
    before *= 2;
  window = {page, std::min(before + count, most), 1, 0};
  submit();
}

/// page_cache_async_ra() of mm/readahead.c: the next window, at the touch of a marked page.
void StartModel::readAhead(uint64_t page) {
  cache[folioOf(page)].isMarked = false;
  if (page == 0 && kernel.repeatsFirstWindow())
    return; // the first window is in memory
  uint64_t marked = window.start + window.size - window.asyncSize;
  if (page == marked >> cache[page].order << cache[page].order) {
    window.start += window.size;
    window.size = std::max(window.size, nextSize(window.size)); // larger if it was expanded
  } else {
    // The window that the page was marked in is not the last one: read from the next gap.
    uint64_t gap = nextGap(page + 1);
    if (gap - page > maxWindow)
      return;
    window.start = gap;
    window.size = nextSize(gap - page + maxWindow);
  }
  if (kernel.hasUncutWindows()) {
    window.order = cache[page].order;
    window.asyncSize = window.size;
    submit();
    return;
  }
  // Windows grow in folios of growing size, and end where such a folio does.
  window.order = std::min(window.order + 2, Log2_64(maxWindow));
  uint64_t end = window.start + window.size;
  uint64_t aligned = end >> window.order << window.order;
  if (aligned > window.start)
    window.size = aligned - window.start;
  window.asyncSize = window.size;
  submit();
}

/// page_cache_next_miss() of mm/filemap.c: the first page from `first` on that is not in memory, or
/// one out of reach. As in Linux 6.18: the walk begins at the start of the folio of `first`, but
/// counts from `first`, so it arrives late, until it enters another 64 pages (a node of the page
/// cache's tree). The page that it steps over costs a fault of its own.
uint64_t StartModel::nextGap(uint64_t first) const {
  uint64_t slot = first < cache.size() ? folioOf(first) : first;
  for (uint64_t index = first; index < first + maxWindow; ++index) {
    if (slot >= cache.size() || !cache[slot].isCached)
      return index;
    slot = slot % 64 == 63 ? index + 1 : slot + 1;
  }
  return first + maxWindow - kernel.findsGapsEarly();
}

/// get_next_ra_size() of mm/readahead.c
uint64_t StartModel::nextSize(uint64_t size) const {
  return std::min(maxWindow, size < maxWindow / 16 ? 4 * size : 2 * size);
}

/// page_cache_ra_order() of mm/readahead.c: reads the window in folios as large as fit between
/// pages in memory, and marks one of them.
void StartModel::submit() {
  uint64_t end = std::min<uint64_t>(window.start + window.size, cache.size());
  if (!window.size || window.start >= end)
    return;
  endRequest(); // a window is always a request of its own
  if (!hasLargeFolios())
    window.order = 0;
  else if (kernel.hasUncutWindows())
    window.order = window.size < 4 ? 0 : std::min(window.order + 2, maxFolioOrder);
  window.order = std::min(window.order, Log2_64(window.size));
  uint64_t mark = window.start + window.size - window.asyncSize;
  unsigned largest = window.order;
  // A page that a block brings along was in the window before it was read.
  if (!hasLargeFolios() && window.asyncSize && mark < end && !cache[mark].isCached)
    cache[mark].isMarked = true;
  uint64_t more = expansion(end);
  window.size += more;
  window.asyncSize += more;
  uint64_t stop = end;
  for (uint64_t page = window.start; page < stop;) {
    unsigned order = largest;
    if (page % (uint64_t(1) << order))
      order = countr_zero(page);
    while (page + (uint64_t(1) << order) > stop)
      --order;
    if (order == 1 && kernel.hasNoPairs())
      order = 0;
    uint64_t count = uint64_t(1) << order;
    auto folio = ArrayRef(cache).slice(page, count);
    if (any_of(folio, [](const CachedPage &cached) { return cached.isCached; })) {
      // page_cache_ra_unbounded() goes on page by page, with a request of its own
      if (order > 0)
        endRequest();
      if (largest > 0 && kernel.extendsWindows()) {
        stop = std::min<uint64_t>(page + window.size, cache.size());
        mark = stop - window.asyncSize;
      }
      largest = 0;
      page += order == 0;
      continue;
    }
    addPages(page, count, order);
    if (hasLargeFolios())
      cache[page].isMarked = window.asyncSize && page == mark >> order << order;
    page += count;
  }
  addPages(end, more, 0);
}

/// readahead_expand() of mm/readahead.c: how many pages are read behind a range that ends with a
/// missing page. squashfs_readahead() goes to the end of the block that the byte behind it is in.
uint64_t StartModel::expansion(uint64_t end) const {
  bool isCut = end >= cache.size() || cache[end].isCached || cache[end - 1].isCached;
  if (isCut || !image || !image->expandsWindows())
    return 0;
  uint64_t last = image->format == ImageBlocks::Squashfs ? end : end - 1;
  return std::min<uint64_t>(reader->blockEnd(last), cache.size()) - end;
}

/// Reads the pages that are not in memory, as one folio if it has more than one page.
///
/// A request has at most BLK_MAX_SEGMENTS of include/linux/blkdev.h pieces of memory, each of at
/// most BLK_MAX_SEGMENT_SIZE. Folios are seldom contiguous there, so each is a piece. Large early
/// requests get contiguous memory more often: `pagesSideBySide`.
void StartModel::addPages(uint64_t first, uint64_t count, unsigned order,
                          uint64_t pagesSideBySide) {
  uint64_t folioPieces = divideCeil(device.pageBytes << order, maxSegmentBytes);
  for (uint64_t page = first; page < first + count; ++page) {
    if (cache[page].isCached)
      continue;
    cache[page].isCached = true;
    cache[page].order = static_cast<uint8_t>(order);
    if (reader) {
      ImageReader::Pages brought = reader->read(page, submission);
      for (uint64_t each = page; each > brought.begin && !cache[each - 1].isCached; --each)
        cache[each - 1].isCached = true;
      for (uint64_t each = page + 1;
           each < std::min<uint64_t>(brought.end, cache.size()) && !cache[each].isCached; ++each)
        cache[each].isCached = true;
      continue;
    }
    totals.bytesRead += device.pageBytes;
    uint64_t pieces = page % std::max(uint64_t(1) << order, pagesSideBySide) ? 0 : folioPieces;
    bool isNew = page != requestEnd || requestPieces + pieces > maxSegments;
    totals.requests += isNew;
    requestPieces = isNew ? pieces : requestPieces + pieces;
    requestEnd = page + 1;
  }
}

StartCounts StartModel::counts() const {
  StartCounts result = totals;
  if (reader) {
    const BlockCounts &counts = reader->counts();
    double unawaited = tailPages ? 1 - double(awaitedPages) / tailPages : 0;
    result.blocks = counts.touched;
    result.requests = counts.requests;
    result.bytesRead = counts.bytesRead;
    result.unawaitedBytes = uint64_t(unawaited * double(tailCost.bytesRead));
    result.bytesDecompressed = counts.bytesDecompressed;
    result.decompressionSeconds =
        (double(counts.bytesRead) - unawaited * double(tailCost.bytesRead)) *
            image->secondsPerByteIn +
        (double(counts.bytesDecompressed) - unawaited * double(tailCost.bytesDecompressed)) *
            image->secondsPerByteOut;
  } else {
    result.unawaitedBytes = uint64_t(tailPages - awaitedPages) * device.pageBytes;
  }
  bool wasCached = false;
  for (const CachedPage &page : cache) {
    result.runs += page.isCached && !wasCached;
    wasCached = page.isCached;
  }
  return result;
}

} // namespace frontload
