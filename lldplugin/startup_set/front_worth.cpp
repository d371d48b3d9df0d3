// Which sections are worth a place in the front.
#include "startup_set/front_worth.h"
#include "cold_start/io_model.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace llvm;

namespace frontload {

/// The front is planned for this device. Sections left out for it cost the other devices at most a
/// fault or two; hdd would leave out nearly nothing.
static constexpr StringLiteral plannedDevice = "ssd";

/// The typical size of a section, in bytes: cc1's startup set has 8,437 functions in 4.5 MB.
static constexpr double typicalSectionSize = 512;

/// A prefetch queues its requests, and a device with a queue takes less time for each. NVMe easily
/// handles this many.
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
    // Outside of the front, the section shares a window with similar ones. A touch of any of them
    // faults the window in, and each bears its share of the fault.
    double untouched = std::pow(1 - share, window / typicalSectionSize);
    expectedFaults = (1 - untouched) * static_cast<double>(size) / window;
  }
  return expectedFaults * device.secondsIfFaulted(1) >= device.secondsIfRead(size);
}

uint64_t bytesIfFaulted(double windows) {
  return static_cast<uint64_t>(windows * static_cast<double>(plannedFor().readaheadBytes));
}

/// A run that needs these bytes saves a fault: a request and a window. Every run pays for one more
/// request and the pages. The latency of that request counts in full, although a device with a
/// queue hides some of it: a disk has to seek, and a run that ends at once gains nothing. The
/// request must be worth it on every device, for which four of five runs must touch the bytes.
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
