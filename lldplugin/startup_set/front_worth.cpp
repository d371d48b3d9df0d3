//===- front_worth.cpp - which sections are worth a place in the front -----===//

#include "startup_set/front_worth.h"
#include "cold_start/io_model.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace frontload {

/// The device that is planned for. What is left out for it is left out on none of the others to
/// their loss of more than a fault or two; what hdd would leave out is nearly nothing.
static constexpr StringLiteral plannedDevice = "ssd";

/// The typical size of a section, in bytes: cc1's startup set has 8,437 functions in 4.5 MB.
static constexpr double typicalSectionSize = 512;

/// A prefetch does not wait for one request before it makes the next, and a device that has several
/// takes less time for each. NVMe has no trouble with as many as this.
static constexpr double requestsAtOnce = 8;

static const DeviceProfile &plannedFor() {
  static const DeviceProfile &device = *findDeviceProfile(plannedDevice);
  return device;
}

bool belongsToFront(uint64_t size, double windows, double share) {
  const DeviceProfile &device = plannedFor();
  double window = static_cast<double>(device.readaheadBytes);
  double expectedFaults;
  if (size >= device.readaheadBytes) {
    expectedFaults = windows;
  } else {
    // Outside, it shares a window with others like it. The window is faulted in if any of them is
    // touched, and each bears its part of that.
    double untouched = std::pow(1 - share, window / typicalSectionSize);
    expectedFaults = (1 - untouched) * static_cast<double>(size) / window;
  }
  return expectedFaults * device.secondsIfFaulted(1) >= device.secondsIfRead(size);
}

uint64_t bytesIfFaulted(double windows) {
  return static_cast<uint64_t>(windows * static_cast<double>(plannedFor().readaheadBytes));
}

/// A run that needs these bytes is spared a fault, which waits for a request and reads a window.
/// Every run pays for one more request and the pages. A device with a queue serves it beside those
/// that the program waits for, which costs less than its latency; but a disk has to seek for it,
/// and a run that leaves at once gets nothing for it. So the latency counts in full, and it has to
/// be worth it on every device, for which four of five runs must touch the bytes.
bool isWorthARequest(uint64_t bytes, double share) {
  return llvm::all_of(deviceProfiles(), [&](const DeviceProfile &device) {
    uint64_t read = bytes + device.pageBytes; // they may begin and end within a page
    return share * device.secondsIfFaulted(1) >= device.seconds(1, read);
  });
}

bool isWorthReading(uint64_t bytes) {
  const DeviceProfile &device = plannedFor();
  return device.secondsIfRead(bytes) <= device.latency / requestsAtOnce;
}

} // namespace frontload
