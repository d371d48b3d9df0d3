//===- device_options.cpp - which devices a start is predicted on ----------===//

#include "predict/device_options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include <cmath>

using namespace llvm;

namespace frontload {

cl::OptionCategory &optionCategory() {
  static cl::OptionCategory category("Options");
  return category;
}

static cl::list<std::string> deviceOption(
    "device", cl::value_desc("name"), cl::cat(optionCategory()), cl::CommaSeparated,
    cl::desc("hdd, emmc, ssd, nfs, or custom with the options below (default: the first four)"));
static cl::opt<double> iopsOption("device-iops", cl::value_desc("number"),
                                  cl::cat(optionCategory()),
                                  cl::desc("Requests per second of the device `custom`"));
static cl::opt<double> latencyOption("device-latency", cl::value_desc("seconds"),
                                     cl::cat(optionCategory()),
                                     cl::desc("Or the time from a request to its first byte"));
static cl::opt<double> bandwidthOption("device-bandwidth", cl::value_desc("bytes/s"),
                                       cl::cat(optionCategory()),
                                       cl::desc("Bytes per second of the device `custom`"));
static cl::opt<uint64_t> readAheadOption("read-ahead", cl::value_desc("KiB"),
                                         cl::cat(optionCategory()),
                                         cl::desc("The readahead of all chosen devices "
                                                  "(read_ahead_kb; default: 128)"));

/// In KiB: far more than any device has, and small enough to calculate with.
static constexpr uint64_t maxReadAhead = 1 << 20;

static Error notPositive(StringRef option) {
  return createStringError("--" + option + ": is not a number above 0");
}

static Expected<DeviceProfile> describedDevice() {
  if (iopsOption.getNumOccurrences() + latencyOption.getNumOccurrences() != 1)
    return createStringError("--device=custom: needs one of --device-iops and --device-latency");
  if (!bandwidthOption.getNumOccurrences())
    return createStringError("--device=custom: takes --device-bandwidth");
  auto isGood = [](double value) { return std::isfinite(value) && value > 0; };
  if (!isGood(bandwidthOption))
    return notPositive("device-bandwidth");
  if (iopsOption.getNumOccurrences() && !isGood(iopsOption))
    return notPositive("device-iops");
  if (latencyOption.getNumOccurrences() && !isGood(latencyOption))
    return notPositive("device-latency");
  return customDevice(iopsOption.getNumOccurrences() ? 1 / iopsOption : latencyOption.getValue(),
                      bandwidthOption);
}

Expected<std::vector<DeviceProfile>> chosenDevices(bool ofWholeStart) {
  std::vector<DeviceProfile> chosen;
  bool isDescribed = false;
  for (const std::string &name : deviceOption) {
    if (name == "custom") {
      auto device = describedDevice();
      if (!device)
        return device.takeError();
      isDescribed = true;
      chosen.push_back(*device);
    } else if (name == lazyProfile().name && ofWholeStart) {
      chosen.push_back(lazyProfile());
    } else if (const DeviceProfile *device = findDeviceProfile(name)) {
      chosen.push_back(*device);
    } else {
      return createStringError("--device=" + name + ": is not hdd, emmc, ssd, nfs or custom");
    }
    auto isSame = [&](const DeviceProfile &other) { return other.name == name; };
    if (count_if(chosen, isSame) > 1)
      return createStringError("--device=" + name + ": is given twice");
  }
  if (!isDescribed && (iopsOption.getNumOccurrences() || latencyOption.getNumOccurrences() ||
                       bandwidthOption.getNumOccurrences()))
    return createStringError("--device-iops, --device-latency and --device-bandwidth: need "
                             "--device=custom");
  if (chosen.empty())
    chosen = deviceProfiles().vec();
  if (ofWholeStart && deviceOption.empty())
    chosen.push_back(lazyProfile());
  if (readAheadOption.getNumOccurrences()) {
    if (readAheadOption > maxReadAhead)
      return createStringError("--read-ahead: is more than " + Twine(maxReadAhead) + " KiB");
    for (DeviceProfile &device : chosen)
      device.readaheadBytes = readAheadOption << 10;
  }
  return chosen;
}

void listDevices(ArrayRef<DeviceProfile> devices, bool asJson, raw_ostream &out) {
  if (!asJson) {
    out << "device    latency ms      MB/s  readahead KiB\n";
    for (const DeviceProfile &device : devices)
      out << format("%-8s  %10.3f  %8.0f  %13llu  ", device.name.data(), device.latency * 1e3,
                    device.bandwidth / 1e6,
                    static_cast<unsigned long long>(device.readaheadBytes >> 10))
          << device.description << '\n';
    return;
  }
  json::OStream json(out, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schema", "frontload-devices/1");
    json.attributeArray("devices", [&] {
      for (const DeviceProfile &device : devices)
        json.object([&] {
          json.attribute("name", device.name);
          json.attribute("iops", std::round(1 / device.latency));
          json.attribute("latency_seconds", device.latency);
          json.attribute("bytes_per_second", device.bandwidth);
          json.attribute("read_ahead_kib", device.readaheadBytes >> 10);
          json.attribute("parallel", device.parallel);
          json.attribute("description", device.description);
        });
    });
  });
  out << '\n';
}

} // namespace frontload
