//===- device_options.h - which devices a start is predicted on ------------===//
//
// The options that choose among the devices of io_model.h, or describe another one, and the list of
// devices for other programs, which do not repeat the figures.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_TOOLS_PREDICT_DEVICE_OPTIONS_H
#define FRONTLOAD_TOOLS_PREDICT_DEVICE_OPTIONS_H

#include "cold_start/io_model.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace frontload {

/// The heading of the options in --help.
llvm::cl::OptionCategory &optionCategory();

/// The devices of the command line, by default all; an error names the wrong option. Whole starts
/// are also predicted on `lazy`, which has no model of one program.
llvm::Expected<std::vector<DeviceProfile>> chosenDevices(bool ofWholeStart);

/// Writes the figures of each device, as text or as JSON of the schema "frontload-devices/1".
void listDevices(llvm::ArrayRef<DeviceProfile> devices, bool asJson, llvm::raw_ostream &out);

} // namespace frontload

#endif
