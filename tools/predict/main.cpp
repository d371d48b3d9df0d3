//===- main.cpp - frontload-predict: the cost of a layout ------------------===//
//
// Predicts the cost of a layout without a cold machine, a slow device, or the right to use either:
// the traces have the touches, the file their places, and the models the behaviour of the kernel.
// This file holds the command line.
//
//===----------------------------------------------------------------------===//

#include "cold_start/prefetched_ranges.h"
#include "predict/device_options.h"
#include "predict/prediction.h"
#include "predict/prediction_output.h"
#include "predict/whole_start.h"
#include "program/diagnostics.h"
#include "program/option_parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "frontload-predict";

static cl::opt<std::string> binaryArgument(cl::Positional, cl::desc("BINARY"),
                                           cl::cat(optionCategory()));
static cl::list<std::string> traceArguments(cl::Positional, cl::desc("TRACE..."),
                                            cl::cat(optionCategory()));
static cl::opt<std::string> recordedOption(
    "recorded", cl::value_desc("file"), cl::cat(optionCategory()),
    cl::desc("The recorded build, if it is not BINARY; what it touched is found in BINARY by its "
             "name"));
static cl::opt<std::string> prefetchOption(
    "prefetch", cl::value_desc("size"), cl::cat(optionCategory()), cl::init("auto"),
    cl::desc(
        "How much of BINARY's beginning is prefetched. Before it runs: front (as frontload-run "
        "does) or all (as if something read the file). Before its relocation: none, a number "
        "of bytes, or auto (the default): the front, if BINARY was linked with "
        "--front-prefetch"));
static cl::opt<bool> listOption("list-devices", cl::cat(optionCategory()),
                                cl::desc("Show the devices and their figures"));
static cl::opt<bool> touchesOption(
    "list-touches", cl::cat(optionCategory()),
    cl::desc("Show, as JSON, where in BINARY the touches lie, instead of their cost"));
static cl::opt<std::string> wholeStartOption(
    "whole-start", cl::value_desc("file"), cl::cat(optionCategory()),
    cl::desc("Show, as JSON, what a start costs with all of its files, which this file names "
             "(frontload predict makes it of a reading list)"));
static cl::opt<bool> jsonOption("json", cl::cat(optionCategory()), cl::desc("Print JSON"));

static constexpr char overview[] =
    "frontload-predict [options] BINARY TRACE...\n\n"
    "Predicts what a cold start of BINARY reads, for each recorded run of it: major\n"
    "and minor faults, bytes, contiguous runs of pages, and how long several kinds of devices\n"
    "take for them (without the time of the processor).\n";
static cl::extrahelp moreHelp(R"(
examples:
  # predict a cold start on a disk, eMMC, SSD and network file system
  frontload-predict ./app traces/app.1234.fltrace
  # predict that of another build
  frontload-predict --recorded=./app --device=hdd ./app.front traces/app.1234.fltrace

exit status:
  0   done
  2   the command line is wrong, or a file on it cannot be read
  65  the contents of a file are bad
)");

static constexpr StringLiteral readBefore = "all";

/// The ranges that --prefetch stands for; nothing if its value is invalid.
static std::optional<std::vector<FileRange>> prefetchedRanges(const ProgramFile &program,
                                                              ArrayRef<FileSegment> segments) {
  LinkedFile file = {program.bytes(), segments};
  StringRef asked = prefetchOption;
  if (asked == "auto")
    return prefetchesItself(file) ? frontRanges(file) : std::vector<FileRange>();
  if (asked == "front")
    return frontRanges(file);
  uint64_t size = 0;
  if (asked == readBefore)
    size = file.bytes.size();
  else if (asked != "none" && asked.getAsInteger(10, size))
    return std::nullopt;
  return std::vector<FileRange>{{0, size}};
}

int main(int argc, char **argv) {
  if (std::optional<Refusal> refusal = parseProgramOptions(argc, argv, optionCategory(), overview))
    return refuse(*refusal);
  auto devices = chosenDevices(!wholeStartOption.empty());
  if (!devices)
    fail(exitUsage, toString(devices.takeError()), "try: frontload-predict --help");
  if (listOption) {
    listDevices(*devices, jsonOption, outs());
    return EXIT_SUCCESS;
  }
  if (!wholeStartOption.empty()) {
    std::unique_ptr<MemoryBuffer> text = readFile(wholeStartOption);
    printWholeStart(orExit(readWholeStart(text->getBuffer()), wholeStartOption + ": ",
                           "frontload predict makes it of a reading list"),
                    *devices);
    return EXIT_SUCCESS;
  }
  if (traceArguments.empty())
    fail(exitUsage, binaryArgument.empty() ? "no BINARY was given" : "no TRACE was given",
         "try: frontload-predict --help");
  ProgramFile program(binaryArgument);
  std::vector<FileSegment> segments =
      orExit(readSegments(program.bytes()), binaryArgument + ": ", linkedFileNote);
  std::optional<std::vector<FileRange>> prefetch = prefetchedRanges(program, segments);
  if (!prefetch)
    fail(exitUsage, "--prefetch=" + prefetchOption + ": is not a size",
         "give auto, front, none, all or bytes");
  std::optional<ProgramFile> recorded;
  std::optional<SymbolMap> map;
  if (!recordedOption.empty()) {
    recorded.emplace(recordedOption);
    // A map would lose data without symbols, and names are not unique.
    if (!recorded->isSameBuild(program))
      map.emplace(orExit(SymbolMap::create(*recorded->elf, *program.elf), "",
                         "predict with files that are not stripped"));
  }
  Question question = {program,
                       std::move(segments),
                       recorded ? *recorded : program,
                       map ? &*map : nullptr,
                       std::move(*devices),
                       std::move(*prefetch),
                       prefetchOption == readBefore || prefetchOption == "front"};
  if (touchesOption) {
    printTouches(question, traceArguments);
    return EXIT_SUCCESS;
  }
  std::vector<Prediction> predictions;
  auto runs = groupByRun(traceArguments);
  for (const std::vector<std::string> &run : runs)
    predictions.push_back(predict(question, run));
  jsonOption ? printJson(question, predictions) : printText(question, predictions);
  return EXIT_SUCCESS;
}
