// How kernels differ in what a cold start reads.
//
// start_model.h states the rules of Linux 6.18. This file has what other kernels do in another way,
// each with the commit that changed it, and which file systems have *large folios*: pieces of the
// page cache of more than one page. bench/kernels compares the model with Debian's kernels.
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>

namespace frontload {

struct KernelRules {
  /// 618 is Linux 6.18.
  unsigned version = 618;
  bool hasLargeFolios = true;
  /// Where code is not read around a fault: it is read in folios of this size, from the beginning
  /// of one on. 0: in single pages.
  uint64_t codeFolioBytes = 0;

  /// Each fault that has to wait counts as a major one, also for a page that was asked for before,
  /// or after it has begun to read ahead. Until 12214eba1992 ("mm: handle read faults under the VMA
  /// lock", 6.7), whose way of counting is that of 46e714c729c8 ("arch/mm/fault: fix major fault
  /// accounting when retrying under per-VMA lock").
  bool everyWaitIsMajor() const { return version < 607; }
  /// page_cache_next_miss() of mm/filemap.c returns the last page that it looked at if all are in
  /// memory, and the next window begins there. By 6.12 it returns the page behind, which is too
  /// far.
  bool findsGapsEarly() const { return version < 612; }
  /// No folio has two pages: the kernel takes two folios of one page. Until "mm: support order-1
  /// folios in the page cache" (6.9).
  bool hasNoPairs() const { return version < 609; }
  /// A window in folios that meets a page in memory goes on from there page by page, with all of
  /// its size, so it ends later. Until 7c877586da31 ("readahead: properly shorten readahead when
  /// falling back to do_page_cache_ra()", 6.11).
  bool extendsWindows() const { return version < 611; }
  /// A mark on a file's first page asks for the first window again, not for the next one. Until
  /// 3a7a11a57e46 ("readahead: disentangle async and sync readahead", 6.11).
  bool repeatsFirstWindow() const { return version < 611; }
  /// Code is read around a fault, as data is. Until "mm/filemap: allow arch to request folio size
  /// for exec memory" (6.17).
  bool readsAroundCode() const { return version < 617; }
  /// All windows are read in folios of four pages or more, and a window that is read ahead ends
  /// anywhere. Until "mm/readahead: store folio order in struct file_ra_state" and "mm/readahead:
  /// terminate async readahead on natural boundary" (6.17).
  bool hasUncutWindows() const { return version < 617; }
  /// Each page that fault-around finds is a hit, and faults in code count. Until "mm/filemap:
  /// tighten mmap_miss hit accounting" and "mm: bypass mmap_miss heuristic for VM_EXEC readahead"
  /// (7.2).
  bool countsHitsAround() const { return version < 702; }
};

/// exec_folio_order() of arch/arm64/include/asm/pgtable.h.
inline constexpr uint64_t aarch64CodeFolioBytes = 64 << 10;

/// The rules of a kernel ("6.12", with anything behind it) for files on a file system (ext4, xfs,
/// btrfs, f2fs, erofs); nothing if either is unknown.
std::optional<KernelRules> kernelRules(llvm::StringRef version, llvm::StringRef fileSystem);

} // namespace frontload
