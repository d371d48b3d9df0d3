// The costs of reading follow from the device.
#include "cold_start/io_model.h"
#include "gtest/gtest.h"

using namespace frontload;

namespace {

TEST(IoModel, FindsEachProfileByItsName) {
  for (const DeviceProfile &profile : deviceProfiles())
    EXPECT_EQ(findDeviceProfile(profile.name), &profile);
  EXPECT_EQ(findDeviceProfile("drum"), nullptr);
}

// The density rule of the front rests on this: below the bytes that the device could have read
// during the latency of a request, and the window itself, reading on is cheaper than a fault.
TEST(IoModel, ReadingOnIsCheaperThanAFaultUpToTheBytesOfItsLatencyAndWindow) {
  for (const DeviceProfile &profile : deviceProfiles()) {
    double even = profile.latency * profile.bandwidth + static_cast<double>(profile.readaheadBytes);
    auto bytes = static_cast<uint64_t>(even);
    EXPECT_LT(profile.secondsIfRead(bytes - 1), profile.secondsIfFaulted(1)) << profile.name.str();
    EXPECT_GT(profile.secondsIfRead(bytes + 2), profile.secondsIfFaulted(1)) << profile.name.str();
  }
}

} // namespace
