// The kernel's reads in a cold start.
//
// The order of touches and the kernel's rules determine how many page faults a layout costs, and
// how much they read. This models the rules of Linux 6.18 for one mapped file that is not in
// memory, on a file system with large folios (ext4, xfs); kernel_rules.h has what other
// kernels do in another way. It leaves out differences between runs: pages are in memory as soon as
// they are asked for, and the load bias is a multiple of the range of fault-around.
//
// Words: a *fault* is major if its page is not in memory. *Read-around* is what a fault reads
// besides its page; *fault-around* maps pages that are in memory already. A page of a window is
// *marked* to say that the next window is to be read when it is touched. A *folio* is what the page
// cache consists of, one page or an aligned power of two.
#pragma once

#include "cold_start/image_blocks.h"
#include "cold_start/io_model.h"
#include "elf/linked_file.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace frontload {

struct StartCounts {
  /// Faults that found nothing in memory.
  uint64_t majorFaults = 0;
  /// The other faults in pages of the file.
  uint64_t minorFaults = 0;
  /// Contiguous reads from the device.
  uint64_t requests = 0;
  /// Requests queued with the one before, so that their latencies overlap.
  uint64_t queuedRequests = 0;
  uint64_t bytesRead = 0;
  /// Of these, the bytes at the end of a prefetch that the program did not wait for.
  uint64_t unawaitedBytes = 0;
  /// Contiguous ranges of pages in memory at the end.
  uint64_t runs = 0;
  /// In an image: the blocks that were read, and what was decompressed of them.
  uint64_t blocks = 0, bytesDecompressed = 0;
  double decompressionSeconds = 0;

  /// The time that the program waits.
  double secondsOn(const DeviceProfile &device) const {
    return device.seconds(requests - queuedRequests, bytesRead - unawaitedBytes) +
           decompressionSeconds;
  }
};

class StartModel {
public:
  /// The segments ascend by address and lie within the file. `blocks`: those of the image that the
  /// file lies in; they outlive the model.
  StartModel(const DeviceProfile &device, uint64_t fileBytes, llvm::ArrayRef<FileSegment> segments,
             const ImageBlocks *blocks = nullptr);

  /// The kernel's touches before the program's first instruction. `interpreter`: where the name of
  /// its dynamic linker is in the file.
  void execute(uint64_t interpreter = 0);
  /// readahead(2) of the front, and of its tail at the next fault that reads, as
  /// instrument/prefetch does it.
  void prefetch(llvm::ArrayRef<FileRange> front, llvm::ArrayRef<FileRange> tail = {});
  /// readahead(2) of these parts by a prefetch list, without a look at what is in memory. On
  /// average, `pagesSideBySide` pages are contiguous in memory.
  void askFor(llvm::ArrayRef<FileRange> ranges, uint64_t pagesSideBySide);
  /// read(2) of `count` pages.
  void readFile(uint64_t page, uint64_t count);
  /// A read of, or a jump to, an address before load bias; ignored if it is not in the file.
  void read(uint64_t address) { touch(address, false); }
  /// A touch in a trace. Writable data counts as written.
  void use(uint64_t address);
  /// A write to a private page.
  void write(uint64_t address) { touch(address, true); }

  StartCounts counts() const;
  /// Whether a page of the file is in memory.
  bool isCached(uint64_t page) const { return cache[page].isCached; }

private:
  struct CachedPage {
    bool isCached = false;
    bool isMarked = false; // on the first page of a folio
    uint8_t order = 0;     // log2 of the pages in its folio
    uint32_t ofTail = 0;   // how many pages of the tail were asked for up to this one
  };
  enum class Mapping : uint8_t { None, ReadOnly, Private };
  /// struct file_ra_state of <linux/fs.h>: the most recent window. All mappings of a file by one
  /// process share it.
  struct Window {
    uint64_t start = 0, size = 0, asyncSize = 0;
    unsigned order = 0;
  };

  void askForTail();
  void touch(uint64_t address, bool isWrite);
  void mapAround(uint64_t address, const FileSegment &segment, bool hasJustRead);
  void readAround(uint64_t page, const FileSegment &segment);
  void readMissing(uint64_t page, uint64_t count);
  void readAhead(uint64_t page);
  void submit();
  uint64_t expansion(uint64_t end) const;
  uint64_t requests() const { return reader ? reader->counts().requests : totals.requests; }
  void endRequest();
  bool hasLargeFolios() const { return image ? image->hasLargeFolios() : kernel.hasLargeFolios; }
  void addPages(uint64_t first, uint64_t count, unsigned order, uint64_t pagesSideBySide = 1);
  const FileSegment *segmentOf(uint64_t address) const;
  uint64_t pageOf(uint64_t bytes) const { return bytes / device.pageBytes; }
  uint64_t folioOf(uint64_t page) const { return page >> cache[page].order << cache[page].order; }
  uint64_t nextGap(uint64_t first) const;
  uint64_t nextSize(uint64_t size) const;

  const DeviceProfile &device;
  const KernelRules &kernel;
  const uint64_t maxWindow; // pages
  std::vector<FileSegment> segments;
  std::vector<CachedPage> cache;              // by page of the file
  llvm::DenseMap<uint64_t, Mapping> mappings; // by page of the address space
  Window window;
  uint64_t lastRead = UINT64_MAX; // the page of the last byte that read(2) read
  std::vector<FileRange> unaskedTail;
  uint32_t tailPages = 0;           // of the tail that were read
  uint32_t awaitedPages = 0;        // those up to the last one that was touched
  unsigned misses = 0;              // mmap_miss: whether reading around is worth it
  uint64_t requestEnd = UINT64_MAX; // the page that would continue the last request
  uint64_t requestPieces = 0;       // pieces of memory in the last request
  uint64_t submission = 1;          // a number for what is asked for together
  const ImageBlocks *image;
  std::optional<ImageReader> reader;
  BlockCounts tailCost; // of the tail in an image
  StartCounts totals;
};

} // namespace frontload
