//===- main.cpp - frontload-predict: what a layout will cost, before it runs ==//
//
// A layout can be judged without a cold machine, a slow device, or the right to use either: what
// the program touches is in its traces, where that lies is in the file, and what the kernel makes
// of it is in the models. This file holds the command line and what is printed.
//
//===----------------------------------------------------------------------===//

#include "predict/device_options.h"
#include "predict/elf_start.h"
#include "predict/prefetch_size.h"
#include "predict/symbol_map.h"
#include "predict/trace_file.h"
#include "program/usage_error.h"
#include "llvm/Object/BuildID.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::object;
using namespace frontload;

static cl::opt<std::string> binaryArgument(cl::Positional, cl::desc("BINARY"),
                                           cl::cat(optionCategory()));
static cl::list<std::string> traceArguments(cl::Positional, cl::desc("TRACE..."),
                                            cl::cat(optionCategory()));
static cl::opt<std::string> recordedOption(
    "recorded", cl::value_desc("file"), cl::cat(optionCategory()),
    cl::desc("The build that was recorded, if it is another one than BINARY: what was touched is "
             "found in BINARY by its name"));
static cl::opt<std::string> prefetchOption(
    "prefetch", cl::value_desc("size"), cl::cat(optionCategory()), cl::init("auto"),
    cl::desc("How much of BINARY's beginning is asked for: before it runs, front (as "
             "frontload-run does) or all (by one who reads the file); before its relocations, "
             "none, a number of bytes, or auto (the default): the front, if BINARY was linked "
             "with --front-prefetch"));
static cl::opt<bool> listOption("list-devices", cl::cat(optionCategory()),
                                cl::desc("Say what is known of the devices"));
static cl::opt<bool> touchesOption(
    "list-touches", cl::cat(optionCategory()),
    cl::desc("Say where in BINARY is what was touched, as JSON, in place of what it costs"));
static cl::opt<bool> jsonOption("json", cl::cat(optionCategory()), cl::desc("Print JSON"));

static constexpr char overview[] =
    "frontload-predict [options] BINARY TRACE...\n\n"
    "Predicts what a cold start of BINARY reads, for each trace of a process that ran it: major\n"
    "and minor faults, bytes, contiguous runs of pages, and how long devices of several kinds\n"
    "take for them (time of the processor not included).\n";
static cl::extrahelp moreHelp(R"(
examples:
  # what a cold start costs on a disk, eMMC, SSD and network file system
  frontload-predict ./app traces/app.1234.fltrace
  # what it would cost another build
  frontload-predict --recorded=./app --device=hdd ./app.front traces/app.1234.fltrace

exit status:
  0   done
  2   the command line is wrong, or a file that it names cannot be read
  65  what a file contains is bad
)");

static constexpr int exitUsage = 2, exitData = 65;

static void error(const Twine &message, const Twine &note) {
  errs() << "frontload-predict: error: " << message << '\n';
  errs() << "frontload-predict: note: " << note << '\n';
}

static std::unique_ptr<MemoryBuffer> readFile(const Twine &path) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (buffer)
    return std::move(*buffer);
  error(path + ": " + buffer.getError().message(), "give the path of a file that can be read");
  std::exit(exitUsage);
}

/// What `expected` has; if it is an error, ends the program with it.
template <class T> static T orExit(Expected<T> expected, const Twine &thing, const Twine &note) {
  if (expected)
    return std::move(*expected);
  error(thing + toString(expected.takeError()), note);
  std::exit(exitData);
}

namespace {
/// A linked file, as its bytes and as LLVM sees it.
struct Program {
  explicit Program(const std::string &path) : buffer(readFile(path)) {
    auto object = orExit(ObjectFile::createELFObjectFile(*buffer), path + ": ", linkedFileNote);
    elf.reset(cast<ELFObjectFileBase>(object.release()));
    name = sys::path::filename(path).str();
    buildId = toStringRef(getBuildID(elf.get())).str();
  }
  /// Whether a trace's module is this file. Without build-ids, a name must do.
  bool isModule(StringRef path, StringRef id) const {
    return id.empty() || buildId.empty() ? sys::path::filename(path) == name : id == buildId;
  }
  bool isSameBuild(const Program &other) const {
    return buffer->getBuffer() == other.buffer->getBuffer();
  }

  static constexpr char linkedFileNote[] = "give a program or a shared library that was linked";
  std::unique_ptr<MemoryBuffer> buffer;
  std::unique_ptr<ELFObjectFileBase> elf;
  std::string name, buildId;
};

struct Prediction {
  StringRef trace;
  /// Touches, and how many of them are of nothing that BINARY has by the same name.
  uint64_t touches = 0, missing = 0;
  std::vector<StartCounts> counts; // one for each device
};

/// What there is to know for all predictions of one command line.
struct Question {
  const Program &program;
  std::vector<FileSegment> segments;
  const Program &recorded;
  SymbolMap *map; // null where the recorded build is the program itself
  std::vector<DeviceProfile> devices;
  uint64_t prefetchBytes;
  bool isAskedBefore; // by another program, which then executes this one
};
} // namespace

/// What a trace touched, in its order, and where that is in BINARY; `missing` counts what is not.
static std::vector<AddressPair> touchedIn(const Question &question, StringRef trace,
                                          uint64_t &missing) {
  std::unique_ptr<MemoryBuffer> buffer = readFile(trace);
  auto isRecorded = [&](StringRef path, StringRef id) {
    return question.recorded.isModule(path, id);
  };
  std::vector<uint64_t> touched =
      orExit(readTrace(trace, buffer->getBuffer(), isRecorded), "",
             "give traces of BINARY, or name the build that they are of with --recorded");
  if (question.map)
    question.map->learn(touched);
  std::vector<AddressPair> found;
  for (uint64_t address : touched)
    if (std::optional<uint64_t> place = question.map ? question.map->find(address) : address)
      found.push_back({address, *place});
  missing = touched.size() - found.size();
  return found;
}

static Prediction predict(const Question &question, StringRef trace) {
  Prediction result{trace, 0, 0, {}};
  std::vector<AddressPair> touched = touchedIn(question, trace, result.missing);
  result.touches = touched.size() + result.missing;
  StringRef bytes = question.program.buffer->getBuffer();
  for (const DeviceProfile &device : question.devices) {
    StartModel model(device, bytes.size(), question.segments);
    if (question.isAskedBefore)
      model.prefetch(question.prefetchBytes);
    model.execute();
    if (Error problem = loadProgram(bytes, question.segments, model,
                                    [&] { model.prefetch(question.prefetchBytes); })) {
      error(binaryArgument + ": " + toString(std::move(problem)), Program::linkedFileNote);
      std::exit(exitData);
    }
    for (AddressPair touch : touched)
      model.use(touch.target);
    result.counts.push_back(model.counts());
  }
  return result;
}

static double secondsOf(const DeviceProfile &device, const StartCounts &counts) {
  return device.seconds(counts.requests - counts.queuedRequests, counts.bytesRead);
}

static void printText(const Question &question, ArrayRef<Prediction> predictions) {
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
                       static_cast<unsigned long long>(counts.requests), secondsOf(device, counts));
  }
}

static void printJson(const Question &question, ArrayRef<Prediction> predictions) {
  json::OStream out(outs(), /*IndentSize=*/1);
  out.object([&] {
    out.attribute("schema", "frontload-predict/1");
    out.attribute("binary", json::fixUTF8(binaryArgument));
    out.attribute("file_bytes", question.program.buffer->getBufferSize());
    out.attribute("prefetch_bytes", question.prefetchBytes);
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
                out.attribute("seconds", secondsOf(device, counts));
              });
          });
        });
    });
  });
  outs() << '\n';
}

static constexpr StringLiteral readBefore = "all";

/// For each trace the addresses that it touched in the recorded build, and what they are in BINARY.
static void printTouches(const Question &question) {
  json::OStream out(outs());
  out.object([&] {
    out.attribute("schema", "frontload-touches/1");
    out.attribute("binary", json::fixUTF8(binaryArgument));
    out.attributeArray("traces", [&] {
      for (const std::string &trace : traceArguments)
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

/// The bytes that --prefetch stands for; nothing if that is none of its values.
static std::optional<uint64_t> prefetchBytes(const Program &program,
                                             ArrayRef<FileSegment> segments) {
  StringRef bytes = program.buffer->getBuffer(), asked = prefetchOption;
  if (asked == "auto")
    return prefetchesItself(bytes, segments, *program.elf) ? frontSize(bytes) : 0;
  if (asked == "front")
    return frontSize(bytes);
  if (asked == readBefore)
    return bytes.size();
  uint64_t size = 0;
  if (asked != "none" && asked.getAsInteger(10, size))
    return std::nullopt;
  return size;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(optionCategory());
  cl::SetVersionPrinter([](raw_ostream &os) { os << "frontload-predict " FRONTLOAD_VERSION "\n"; });
  std::string messages;
  raw_string_ostream messageStream(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &messageStream, nullptr, nullptr,
                                   /*LongOptionsUseDoubleDash=*/true)) {
    UsageError wrong = usageErrorOf("frontload-predict", messages);
    error(wrong.message, wrong.note);
    return exitUsage;
  }
  auto devices = chosenDevices();
  if (!devices) {
    error(toString(devices.takeError()), "try: frontload-predict --help");
    return exitUsage;
  }
  if (listOption) {
    listDevices(*devices, jsonOption, outs());
    return EXIT_SUCCESS;
  }
  if (traceArguments.empty()) {
    error(binaryArgument.empty() ? "which program?" : "which traces?",
          "try: frontload-predict --help");
    return exitUsage;
  }
  Program program(binaryArgument);
  std::vector<FileSegment> segments = orExit(readSegments(program.buffer->getBuffer()),
                                             binaryArgument + ": ", Program::linkedFileNote);
  std::optional<uint64_t> prefetch = prefetchBytes(program, segments);
  if (!prefetch) {
    error("--prefetch=" + prefetchOption + ": is no size", "give auto, front, none, all or bytes");
    return exitUsage;
  }
  std::optional<Program> recorded;
  std::optional<SymbolMap> map;
  if (!recordedOption.empty()) {
    recorded.emplace(recordedOption);
    // By names, what no symbol has would be lost, and names are not unique.
    if (!recorded->isSameBuild(program))
      map.emplace(orExit(SymbolMap::create(*recorded->elf, *program.elf), "",
                         "predict with files that are not stripped"));
  }
  Question question = {program,
                       std::move(segments),
                       recorded ? *recorded : program,
                       map ? &*map : nullptr,
                       std::move(*devices),
                       *prefetch,
                       prefetchOption == readBefore || prefetchOption == "front"};
  if (touchesOption) {
    printTouches(question);
    return EXIT_SUCCESS;
  }
  std::vector<Prediction> predictions;
  for (const std::string &trace : traceArguments)
    predictions.push_back(predict(question, trace));
  jsonOption ? printJson(question, predictions) : printText(question, predictions);
  return EXIT_SUCCESS;
}
