// The cost of bringing a file into memory.
//
// What Linux does by default:
// * 128 KiB of readahead: VM_READAHEAD_PAGES in include/linux/pagemap.h, which becomes a device's
//   read_ahead_kb. NFS had 15 times rsize until Linux 5.4, and has the same 128 KiB since
//   (learn.microsoft.com/azure/azure-netapp-files/performance-linux-nfs-read-ahead).
// * 64 KiB of fault-around: fault_around_pages in mm/memory.c.
// * 4 KiB pages: x86-64, and AArch64 in most distributions.
//
// Devices: random reads of 4 KiB at queue depth 1 for the latency, since a program waits for each
// of its faults, and the rate of one sequential reader for the bandwidth.
#include "cold_start/io_model.h"
#include "frontload_gaps.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace frontload {

static constexpr DeviceProfile profiles[] = {
    // A 5400 rpm disk with the file in one place: 1.0 ms from track to track and half a turn, 5.5
    // ms (Hitachi Travelstar 5K320, OEM specification, 4.4.2). This is the 150 requests a second
    // and 80 MB/s of the slow device of bench/race.
    {"hdd", 1 / 150.0, 80e6, "disk of 5400 rpm, 150 requests a second, 80 MB/s", 1,
     FRONTLOAD_GAP_HDD},
    // eMMC 5.1, HS400: 250 MB/s (Samsung's 64 GB part, 2015; 217 MB/s measured by Gateworks on its
    // boards, trac.gateworks.com/wiki/MMC). 11,000 random reads a second are with its command queue
    // full; one at a time, 4,000 to 6,000 are reported.
    {"emmc", 1 / 5000.0, 250e6, "eMMC 5.1, HS400, 250 MB/s", 1, FRONTLOAD_GAP_EMMC},
    // NVMe, PCIe 3 x4: 19,000 random reads a second at queue depth 1 (data sheet of Samsung's 970
    // EVO Plus), 2.6 GB/s read in sequence at queue depth 2, as readahead does (measured by
    // kitguru.net on a 970 EVO; its 3.5 GB/s take a deeper queue). SATA (870 EVO: 13,000 a second,
    // 560 MB/s) would pay 1.5 times as much for a request, and 5 times as much for a byte.
    {"ssd", 1 / 19000.0, 2.6e9, "NVMe on PCIe 3 x4, 2.6 GB/s", 32, FRONTLOAD_GAP_SSD},
    // 1 Gbit/s Ethernet, of which TCP leaves 118 MB/s; half a millisecond for a round trip and a
    // server that has the file in memory (a round trip in a data centre in J. Dean's "Numbers
    // everyone should know", LADIS 2009).
    {"nfs", 0.5e-3, 118e6, "a server's memory over Ethernet of 1 Gbit/s", 16, FRONTLOAD_GAP_NFS},
    // scripts/frontload/device/kinds.py has the same figures, with unlimited bandwidth.
    {"lazy", 5e-3, 1e12, "each read takes 5 ms, 64 at once", 64, FRONTLOAD_GAP_LAZY},
};

const DeviceProfile &lazyProfile() { return ArrayRef(profiles).back(); }

DeviceProfile customDevice(double latency, double bandwidth) {
  // As on the disk, a part of the bytes that could be read during one latency.
  auto maxGap = std::min<uint64_t>(uint64_t(latency * bandwidth * 3 / 8), FRONTLOAD_GAP_HDD);
  return {"custom", latency, bandwidth, "as described", 1, maxGap};
}

ArrayRef<DeviceProfile> deviceProfiles() { return ArrayRef(profiles).drop_back(); }

const DeviceProfile *findDeviceProfile(StringRef name) {
  ArrayRef<DeviceProfile> all = deviceProfiles();
  auto found = find_if(all, [&](const DeviceProfile &profile) { return profile.name == name; });
  return found == all.end() ? nullptr : found;
}

} // namespace frontload
