//===- io_model.h - what it costs to bring a file into memory --------------===//
//
// Whether a layout is good depends on the device and the kernel: how long a request takes before
// its first byte comes, how many bytes follow each second, and how much is read around a page
// fault. This file has these figures for typical devices, each with its source, and the costs that
// follow from them, so the planner and the predictor of faults calculate with the same ones.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_COLD_START_IO_MODEL_H
#define FRONTLOAD_LLDPLUGIN_COLD_START_IO_MODEL_H

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
  /// What is read around a page fault that finds no page, and at most ahead of a sequential reader.
  uint64_t readaheadBytes;
  /// The aligned range of which a fault also maps what is in memory already.
  uint64_t faultAroundBytes;
  uint64_t pageBytes;
  llvm::StringLiteral description;
  /// How many requests it works on at once, so that their latencies pass together.
  uint64_t parallel = 1;
  /// Up to which size frontload-run --files reads a gap along.
  uint64_t largestGap = 0;

  /// Reading `bytes` in `requests` requests.
  double seconds(uint64_t requests, uint64_t bytes) const {
    return static_cast<double>(requests) * latency + static_cast<double>(bytes) / bandwidth;
  }
  /// What `bytes` more add to one sequential read, the latency of which is paid already.
  double secondsIfRead(uint64_t bytes) const { return seconds(0, bytes); }
  /// Page faults that find nothing in memory and read a window each.
  double secondsIfFaulted(uint64_t windows) const {
    return seconds(windows, windows * readaheadBytes);
  }
};

/// All profiles: hdd, emmc, ssd, nfs.
llvm::ArrayRef<DeviceProfile> deviceProfiles();

/// A file system over a network of which each read takes its time, and many may be under way, as of
/// a container image that is loaded as it is read: frontload measure --device lazy.
const DeviceProfile &lazyProfile();

/// The profile of that name, or null.
const DeviceProfile *findDeviceProfile(llvm::StringRef name);

/// A device of these figures, with the readahead that the kernel gives all of them.
DeviceProfile customDevice(double latency, double bandwidth);

} // namespace frontload

#endif
