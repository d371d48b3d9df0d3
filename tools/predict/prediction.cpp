//===- prediction.cpp - what a start that was traced costs, cold -----------===//

#include "predict/prediction.h"
#include "cold_start/elf_start.h"
#include "predict/trace_file.h"

using namespace llvm;

namespace frontload {

std::vector<AddressPair> touchedIn(const Question &question, StringRef trace, uint64_t &missing) {
  std::unique_ptr<MemoryBuffer> buffer = readFile(trace);
  auto isRecorded = [&](StringRef path, StringRef id) {
    return question.recorded.isModule(path, id);
  };
  std::vector<uint64_t> touched =
      orExit(readTrace(trace, buffer->getBuffer(), isRecorded), "",
             "give traces of BINARY, or name the recorded build with --recorded");
  if (question.map)
    question.map->learn(touched);
  std::vector<AddressPair> found;
  for (uint64_t address : touched)
    if (std::optional<uint64_t> place = question.map ? question.map->find(address) : address)
      found.push_back({address, *place});
  missing = touched.size() - found.size();
  return found;
}

Prediction predict(const Question &question, StringRef trace) {
  Prediction result{trace, 0, 0, {}};
  std::vector<AddressPair> touched = touchedIn(question, trace, result.missing);
  result.touches = touched.size() + result.missing;
  StringRef bytes = question.program.bytes();
  for (const DeviceProfile &device : question.devices) {
    StartModel model(device, bytes.size(), question.segments);
    if (question.isAskedBefore)
      model.prefetch(question.prefetched);
    model.execute();
    if (Error problem = loadProgram(bytes, question.segments,
                                    {[&](uint64_t address) { model.read(address); },
                                     [&](uint64_t address) { model.write(address); },
                                     [&] { model.prefetch(question.prefetched); }}))
      fail(exitData, question.program.path + ": " + toString(std::move(problem)), linkedFileNote);
    for (AddressPair touch : touched)
      model.use(touch.target);
    result.counts.push_back(model.counts());
  }
  return result;
}

} // namespace frontload
