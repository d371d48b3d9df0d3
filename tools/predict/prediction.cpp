// The cold cost of a traced start.
#include "predict/prediction.h"
#include "cold_start/program_loading.h"
#include "elf/debug_file.h"
#include "predict/trace_reader.h"
#include "program/tool.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace llvm::object;

namespace frontload {

ProgramFile::ProgramFile(const std::string &p) : path(p), buffer(readInput(p, readableNote)) {
  auto view = [&](const MemoryBuffer &file) {
    auto object = orExit(ObjectFile::createELFObjectFile(file), path + ": ", linkedFileNote);
    return std::unique_ptr<ELFObjectFileBase>(cast<ELFObjectFileBase>(object.release()));
  };
  elf = view(*buffer);
  if (isDebugFile(bytes()))
    fail(exitData, path + ": has only the debug information of a program",
         "give the program itself, also if it is stripped");
  if ((debugBuffer = findDebugFile(*buffer)))
    debug = view(*debugBuffer);
  name = sys::path::filename(path).str();
  buildId = toStringRef(getBuildID(elf.get())).str();
}

bool ProgramFile::isModule(StringRef modulePath, StringRef id) const {
  return id.empty() || buildId.empty() ? sys::path::filename(modulePath) == name : id == buildId;
}

bool ProgramFile::isSameBuild(const ProgramFile &other) const {
  // Comparing the bytes of a large file reads all of it.
  return sys::fs::equivalent(path, other.path) || bytes() == other.bytes();
}

std::vector<AddressPair> touchedIn(const Question &question, StringRef trace, uint64_t &missing) {
  std::unique_ptr<MemoryBuffer> buffer = readInput(trace, readableNote);
  const ProgramFile &recorded = question.recorded;
  std::string remedy = "give traces of BINARY, or name the recorded build with --recorded";
  auto isRecorded = [&](StringRef path, StringRef id) {
    bool isModule = recorded.isModule(path, id);
    if (!isModule && sys::path::filename(path) == recorded.name)
      remedy =
          ("it recorded " + path + " when its build-id was " + toHex(id, /*LowerCase=*/true) +
           ", and that of " + recorded.path + " is " + toHex(recorded.buildId, /*LowerCase=*/true) +
           ": record again, or name the recorded build with --recorded")
              .str();
    return isModule;
  };
  auto read = readTrace(trace, buffer->getBuffer(), isRecorded);
  std::vector<uint64_t> touched = orExit(std::move(read), "", remedy);
  if (question.map)
    question.map->learn(touched);
  std::vector<AddressPair> found;
  for (uint64_t address : touched)
    if (std::optional<uint64_t> place = question.map ? question.map->find(address) : address)
      found.push_back({address, *place});
  missing = touched.size() - found.size();
  return found;
}

std::vector<std::vector<std::string>> groupByRun(ArrayRef<std::string> traces) {
  struct Part {
    TraceRun run;
    std::string trace;
  };
  MapVector<uint64_t, std::vector<Part>> runs;
  uint64_t unknown = 0; // counts down, to be no number of a run
  for (const std::string &trace : traces) {
    TraceRun run = readRun(readInput(trace, readableNote)->getBuffer());
    runs[run.number ? run.number : --unknown].push_back({run, trace});
  }
  std::vector<std::vector<std::string>> found;
  for (auto &[number, parts] : runs) {
    llvm::stable_sort(parts, [](const Part &a, const Part &b) {
      return std::pair(a.run.isForked, a.run.process) < std::pair(b.run.isForked, b.run.process);
    });
    std::vector<std::string> &run = found.emplace_back();
    for (Part &part : parts)
      run.push_back(std::move(part.trace));
  }
  return found;
}

Prediction predict(const Question &question, ArrayRef<std::string> run) {
  Prediction result{run.front(), 0, 0, {}};
  std::vector<AddressPair> touched;
  for (const std::string &trace : run) {
    uint64_t missing = 0;
    llvm::append_range(touched, touchedIn(question, trace, missing));
    result.missing += missing;
  }
  result.touches = touched.size() + result.missing;
  StringRef bytes = question.program.bytes();
  for (const DeviceProfile &device : question.devices) {
    StartModel model(device, bytes.size(), question.segments,
                     question.image ? &*question.image : nullptr);
    if (question.isAskedBefore)
      model.prefetch(question.prefetched.front, question.prefetched.tail);
    std::vector<FileRange> listed = rangesOf(question.listed, device);
    model.askFor(listed, pagesSideBySide);
    model.execute(interpreterOffset(bytes));
    if (Error problem = loadProgram(
            bytes, question.segments,
            {[&](uint64_t address) { model.read(address); },
             [&](uint64_t address) { model.write(address); },
             [&] { model.prefetch(question.prefetched.front, question.prefetched.tail); }}))
      fail(exitData, question.program.path + ": " + toString(std::move(problem)), linkedFileNote);
    for (AddressPair touch : touched)
      model.use(touch.target);
    StartCounts counts = model.counts();
    // A disk has to find the beginning of each range of a list.
    if (device.parallel == 1 && !listed.empty())
      counts.queuedRequests -= std::min<uint64_t>(counts.queuedRequests, listed.size() - 1);
    result.counts.push_back(counts);
  }
  return result;
}

} // namespace frontload
