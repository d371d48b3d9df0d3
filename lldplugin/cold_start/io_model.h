// The cost of bringing a file into memory.
//
// Whether a layout is good depends on the device and the kernel: how long a request takes before
// its first byte comes, how many bytes follow each second, and how much is read around a page
// fault. This file has these figures for typical devices, each with its source, and the costs that
// follow from them, so the planner and the predictor of faults calculate with the same ones.
#pragma once

#include "cold_start/kernel_rules.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace frontload {

/// A device and what the kernel does by default with files on it. A request is one read that the
/// program waits for; the next starts when it is done, as page faults do.
struct DeviceProfile {
  llvm::StringLiteral name;
  /// Seconds from a request to its first byte.
  double latency;
  /// Bytes a second once they come.
  double bandwidth;
  llvm::StringLiteral description;
  /// The number of requests it serves at once, so that their latencies overlap.
  uint64_t parallel = 1;
  /// The largest gap that frontload-run --files also reads.
  uint64_t maxGap = 0;
  /// Bytes read around a page fault that finds no page, and at most ahead of a sequential reader.
  uint64_t readaheadBytes = 128 << 10;
  /// A fault also maps the cached pages in an aligned range of this size.
  uint64_t faultAroundBytes = 64 << 10;
  uint64_t pageBytes = 4 << 10;
  KernelRules kernel = {};

  /// Reading `bytes` in `requests` requests.
  double seconds(uint64_t requests, uint64_t bytes) const {
    return static_cast<double>(requests) * latency + static_cast<double>(bytes) / bandwidth;
  }
  /// Reading `bytes` more in a sequential read, whose latency is already paid.
  double secondsIfRead(uint64_t bytes) const { return seconds(0, bytes); }
  /// Page faults that find nothing in memory and read a window each.
  double secondsIfFaulted(uint64_t windows) const {
    return seconds(windows, windows * readaheadBytes);
  }
};

/// All profiles: hdd, emmc, ssd, nfs.
llvm::ArrayRef<DeviceProfile> deviceProfiles();

/// A network file system with slow reads, many of which may run in parallel, like that of a
/// container image that is loaded as it is read: frontload measure --device lazy.
const DeviceProfile &lazyProfile();

/// The profile of that name, or null.
const DeviceProfile *findDeviceProfile(llvm::StringRef name);

/// A device with these figures, and the kernel's default readahead.
DeviceProfile customDevice(double latency, double bandwidth);

} // namespace frontload
