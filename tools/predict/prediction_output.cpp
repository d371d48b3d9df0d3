//===- prediction_output.cpp - the output of frontload-predict -------------===//

#include "predict/prediction_output.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

void printText(const Question &question, ArrayRef<Prediction> predictions) {
  for (const Prediction &prediction : predictions) {
    outs() << prediction.trace << ": " << prediction.touches << " touches";
    if (prediction.missing)
      outs() << ", " << prediction.missing << " of them without a symbol in both builds: left out";
    outs() << "\n  device    major faults  minor faults   MB read  runs  requests  seconds\n";
    for (auto [device, counts] : zip_equal(question.devices, prediction.counts))
      outs() << format("  %-8s  %12llu  %12llu  %8.1f  %4llu  %8llu  %7.3f\n", device.name.data(),
                       static_cast<unsigned long long>(counts.majorFaults),
                       static_cast<unsigned long long>(counts.minorFaults),
                       static_cast<double>(counts.bytesRead) / 1e6,
                       static_cast<unsigned long long>(counts.runs),
                       static_cast<unsigned long long>(counts.requests), counts.secondsOn(device));
  }
}

void printJson(const Question &question, ArrayRef<Prediction> predictions) {
  json::OStream out(outs(), /*IndentSize=*/1);
  out.object([&] {
    out.attribute("schema", "frontload-predict/1");
    out.attribute("binary", json::fixUTF8(question.program.path));
    out.attribute("file_bytes", uint64_t(question.program.bytes().size()));
    out.attribute("prefetch_bytes", totalSize(question.prefetched));
    out.attributeArray("predictions", [&] {
      for (const Prediction &prediction : predictions)
        out.object([&] {
          out.attribute("trace", json::fixUTF8(prediction.trace));
          out.attribute("touches", prediction.touches);
          out.attribute("missing", prediction.missing);
          out.attributeObject("devices", [&] {
            for (auto [device, counts] : zip_equal(question.devices, prediction.counts))
              out.attributeObject(device.name, [&, &device = device, &counts = counts] {
                out.attribute("major_faults", counts.majorFaults);
                out.attribute("minor_faults", counts.minorFaults);
                out.attribute("requests", counts.requests);
                out.attribute("read_bytes", counts.bytesRead);
                out.attribute("read_runs", counts.runs);
                out.attribute("seconds", counts.secondsOn(device));
              });
          });
        });
    });
  });
  outs() << '\n';
}

void printTouches(const Question &question, ArrayRef<std::string> traces) {
  json::OStream out(outs());
  out.object([&] {
    out.attribute("schema", "frontload-touches/1");
    out.attribute("binary", json::fixUTF8(question.program.path));
    out.attributeArray("traces", [&] {
      for (const std::string &trace : traces)
        out.object([&] {
          uint64_t missing = 0;
          std::vector<AddressPair> touched = touchedIn(question, trace, missing);
          out.attribute("trace", json::fixUTF8(trace));
          out.attribute("missing", missing);
          out.attributeArray("recorded", [&] {
            for (AddressPair touch : touched)
              out.value(touch.recorded);
          });
          out.attributeArray("binary", [&] {
            for (AddressPair touch : touched)
              out.value(touch.target);
          });
        });
    });
  });
  outs() << '\n';
}

} // namespace frontload
