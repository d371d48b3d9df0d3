// frontload-predict: the cost of a layout.
//
// Predicts the cost of a layout without a cold machine, a slow device, or the right to use either:
// the traces have the touches, the file their places, and the models the behavior of the kernel.
// This file holds the command line.
#include "cold_start/io_model.h"
#include "cold_start/program_loading.h"
#include "predict/finished_note.h"
#include "predict/prediction.h"
#include "predict/startup_pages.h"
#include "predict/whole_start.h"
#include "profile/match_summary.h"
#include "program/tool.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "frontload-predict";

static cl::OptionCategory category("Options");
static cl::opt<std::string> binaryArgument(cl::Positional, cl::desc("BINARY"), cl::cat(category));
static cl::list<std::string> traceArguments(cl::Positional, cl::desc("TRACE..."),
                                            cl::cat(category));
static cl::opt<std::string> recordedOption(
    "recorded", cl::value_desc("file"), cl::cat(category),
    cl::desc("The recorded build, if it is not BINARY; what it touched is found in BINARY by its "
             "name"));
static cl::opt<std::string> prefetchedOption(
    "prefetched", cl::value_desc("size"), cl::cat(category), cl::init("auto"),
    cl::desc(
        "How much of BINARY's beginning is prefetched. Before it runs: front (as frontload-run "
        "does) or all (as if something read the file). Before its relocation: none, a number "
        "of bytes, or auto (the default): the front, if BINARY was linked with "
        "--front-prefetch"));
static cl::opt<std::string> listedOption(
    "listed", cl::value_desc("file"), cl::cat(category),
    cl::desc("What a prefetch list asks for of BINARY before it runs, behind --prefetched=front: a "
             "file as for --whole-start"));
static cl::opt<std::string>
    blocksOption("blocks", cl::value_desc("file"), cl::cat(category),
                 cl::desc("The blocks of the compressed or chunked image that BINARY lies in "
                          "(frontload predict makes it)"));
static cl::opt<bool> listOption("list-devices", cl::cat(category),
                                cl::desc("Show the devices and their figures"));
static cl::opt<bool>
    touchesOption("list-touches", cl::cat(category),
                  cl::desc("Show where in BINARY the touches lie, instead of their cost"));
static cl::opt<std::string> startupProfileOption(
    "startup-profile", cl::value_desc("file"), cl::cat(category),
    cl::desc("Show which pages of BINARY a start touches by this profile, in order, instead of "
             "the cost of traces"));
static cl::opt<bool> finishOption(
    "finish", cl::cat(category),
    cl::desc("With --startup-profile: write these pages into the note of BINARY, which has room "
             "for one, so that it asks for them when it starts"));
static cl::opt<std::string> minMatchOption(
    "min-match", cl::value_desc("percent"), cl::cat(category),
    cl::desc("With --finish: fail if fewer of the profile's names are found (default: 80)"));
static cl::opt<std::string> wholeStartOption(
    "whole-start", cl::value_desc("file"), cl::cat(category),
    cl::desc("Show what a start costs with all of its files, which this file names "
             "(frontload predict makes it of a prefetch list)"));

static cl::list<std::string> deviceOption(
    "device", cl::value_desc("name"), cl::cat(category), cl::CommaSeparated,
    cl::desc("hdd, emmc, ssd, nfs, or custom with the options below (default: the first four)"));
static cl::opt<double> iopsOption("device-iops", cl::value_desc("number"), cl::cat(category),
                                  cl::desc("Requests per second of the device `custom`"));
static cl::opt<double> bandwidthOption("device-bandwidth", cl::value_desc("bytes/s"),
                                       cl::cat(category),
                                       cl::desc("Bytes per second of the device `custom`"));
static cl::opt<uint64_t> readAheadOption("read-ahead", cl::value_desc("KiB"), cl::cat(category),
                                         cl::desc("The readahead of all chosen devices "
                                                  "(read_ahead_kb; default: 128)"));

static cl::opt<uint64_t> pageSizeOption("page-size", cl::value_desc("KiB"), cl::cat(category),
                                        cl::init(4),
                                        cl::desc("The size of a page: 4 (the default), 16 or 64"));
static cl::opt<std::string>
    kernelOption("kernel", cl::value_desc("version"), cl::cat(category), cl::init("6.18"),
                 cl::desc("The version of Linux whose rules are followed (default: 6.18)"));
static cl::opt<std::string>
    fileSystemOption("file-system", cl::value_desc("name"), cl::cat(category), cl::init("ext4"),
                     cl::desc("Where BINARY lies: ext4 (the default), xfs, btrfs, f2fs or erofs"));

static constexpr char overview[] =
    "frontload-predict [options] BINARY TRACE...\n\n"
    "Predicts what a cold start of BINARY reads, for each recorded run of it: major\n"
    "and minor faults, bytes, contiguous runs of pages, and how long several kinds of devices\n"
    "take for them (without the time of the processor). Prints JSON.\n";
static cl::extrahelp moreHelp(R"(
examples:
  # predict a cold start on a disk, eMMC, SSD and network file system
  frontload-predict ./app traces/app.1234.fltrace
  # predict that of another build
  frontload-predict --recorded=./app --device=hdd ./app.front traces/app.1234.fltrace

exit status:
  0   done
  1   --finish: fewer names are found than --min-match says
  2   the command line is wrong, or a file on it cannot be read
  65  the contents of a file are bad
)");

/// In KiB: far more than any device has, and small enough to calculate with.
static constexpr uint64_t maxReadAhead = 1 << 20;

static Expected<DeviceProfile> describedDevice() {
  for (const cl::opt<double> *option : {&iopsOption, &bandwidthOption})
    if (!option->getNumOccurrences())
      return createStringError("--device=custom: needs --" + option->ArgStr);
    else if (!(std::isfinite(*option) && *option > 0))
      return createStringError("--" + option->ArgStr + ": is not a number above 0");
  return customDevice(1 / iopsOption, bandwidthOption);
}

/// The devices of the command line, by default all; an error names the wrong option. Whole starts
/// are also predicted on `lazy`, which has no model of one program.
static Expected<std::vector<DeviceProfile>> chosenDevices(bool ofWholeStart) {
  std::vector<DeviceProfile> chosen;
  for (const std::string &name : deviceOption) {
    if (name == "custom") {
      auto device = describedDevice();
      if (!device)
        return device.takeError();
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
  if (!is_contained(deviceOption, "custom") &&
      (iopsOption.getNumOccurrences() || bandwidthOption.getNumOccurrences()))
    return createStringError("--device-iops and --device-bandwidth: need --device=custom");
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
  auto kernel = kernelRules(kernelOption, fileSystemOption);
  if (!kernel && !kernelRules(kernelOption, "ext4"))
    return createStringError("--kernel=" + kernelOption + ": is not a version like 6.12");
  if (!kernel)
    return createStringError("--file-system=" + fileSystemOption +
                             ": is not ext4, xfs, btrfs, f2fs or erofs");
  if (!is_contained({4, 16, 64}, pageSizeOption))
    return createStringError("--page-size=" + Twine(pageSizeOption) + ": is not 4, 16 or 64");
  if (pageSizeOption != 4 && !wholeStartOption.empty())
    return createStringError("--page-size: is not for --whole-start");
  for (DeviceProfile &device : chosen) {
    device.kernel = *kernel;
    device.pageBytes = pageSizeOption << 10;
  }
  return chosen;
}

/// Prints the figures of each device as JSON of the schema "frontload-devices/1", for other
/// programs, which do not repeat them.
static void listDevices(ArrayRef<DeviceProfile> devices) {
  json::OStream json(outs(), /*IndentSize=*/1);
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
  outs() << '\n';
}

/// The ranges that --prefetched stands for; nothing if its value is invalid.
static std::optional<AskedRanges> prefetchedRanges(const ProgramFile &program,
                                                   ArrayRef<FileSegment> segments) {
  LinkedFile file = {program.bytes(), segments};
  StringRef asked = prefetchedOption;
  if (asked == "auto")
    return prefetchesItself(file) ? frontRanges(file) : AskedRanges();
  if (asked == "front")
    return frontRanges(file);
  uint64_t size = 0;
  if (asked == "all")
    size = file.bytes.size();
  else if (asked != "none" && asked.getAsInteger(10, size))
    return std::nullopt;
  return AskedRanges{{{0, size}}, {}};
}

/// The files in a file of frontload predict.
static std::vector<FileOfStart> filesOfStart(const std::string &path) {
  std::unique_ptr<MemoryBuffer> text = readInput(path, readableNote);
  return orExit(readWholeStart(text->getBuffer()), path + ": ",
                "frontload predict makes it of a prefetch list");
}

/// Prints the costs as JSON of the schema "frontload-predict/1".
static void printPredictions(const Question &question, ArrayRef<Prediction> predictions) {
  json::OStream out(outs(), /*IndentSize=*/1);
  out.object([&] {
    out.attribute("schema", "frontload-predict/1");
    out.attribute("binary", json::fixUTF8(question.program.path));
    out.attribute("file_bytes", uint64_t(question.program.bytes().size()));
    out.attribute("prefetch_bytes", totalSize(question.prefetched.front));
    out.attribute("tail_bytes", totalSize(question.prefetched.tail));
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
                if (question.image) {
                  out.attribute("blocks", counts.blocks);
                  out.attribute("decompressed_bytes", counts.bytesDecompressed);
                }
                out.attribute("seconds", counts.secondsOn(device));
              });
          });
        });
    });
  });
  outs() << '\n';
}

/// Prints, for each trace, the addresses that it touched in the recorded build, and the matching
/// ones in the program, as JSON of the schema "frontload-touches/1".
static void printTouches(const Question &question, ArrayRef<std::string> traces) {
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
          auto addresses = [&](StringRef build, uint64_t AddressPair::*address) {
            out.attributeArray(build, [&] {
              for (const AddressPair &touch : touched)
                out.value(touch.*address);
            });
          };
          addresses("recorded", &AddressPair::recorded);
          addresses("binary", &AddressPair::target);
        });
    });
  });
  outs() << '\n';
}

/// Ends the program if too few names of the profile were found.
static StartupPages judged(StartupPages pages) {
  auto percent = minMatchOption.empty() ? defaultMinMatch : parseMinMatch(minMatchOption);
  if (!percent)
    std::exit(refuse(badMinMatch("--min-match", minMatchOption)));
  MatchSummary summary;
  summary.found = pages.found;
  summary.missing = pages.missing;
  MatchVerdict verdict = summary.judge(startupProfileOption, *percent, "--min-match");
  if (verdict.isError)
    fail(exitVerdict, verdict.text, verdict.note);
  if (!summary.missing.empty())
    note(verdict.text);
  return pages;
}

int main(int argc, char **argv) {
  parseOptions(argc, argv, category, overview);
  auto devices = chosenDevices(!wholeStartOption.empty() || !blocksOption.empty());
  if (!devices)
    fail(exitUsage, toString(devices.takeError()), "try: frontload-predict --help");
  if (listOption) {
    listDevices(*devices);
    return EXIT_SUCCESS;
  }
  if (!wholeStartOption.empty()) {
    printWholeStart(filesOfStart(wholeStartOption), *devices);
    return EXIT_SUCCESS;
  }
  if (!startupProfileOption.empty() && !binaryArgument.empty()) {
    std::unique_ptr<MemoryBuffer> text = readInput(startupProfileOption, readableNote);
    StartupProfile profile = orExit(parseStartupProfile(startupProfileOption, text->getBuffer()),
                                    "", "make it again with 'frontload profile'");
    ProgramFile program(binaryArgument);
    if (finishOption && !isToBeFinished(program)) {
      flushOutput();
      return EXIT_SUCCESS;
    }
    const MemoryBuffer &symbols = program.debugBuffer ? *program.debugBuffer : *program.buffer;
    StartupPages pages =
        orExit(startupPages(program.bytes(), symbols, profile), program.path + ": ",
               "give a linked file; if it is stripped, install its debug information, "
               "or give the file before strip");
    if (finishOption)
      finish(program, judged(std::move(pages)).ranges);
    else
      printStartupPages(program.path, pages);
    flushOutput();
    return EXIT_SUCCESS;
  }
  if (traceArguments.empty())
    fail(exitUsage, binaryArgument.empty() ? "no BINARY was given" : "no TRACE was given",
         "try: frontload-predict --help");
  ProgramFile program(binaryArgument);
  if (program.elf->getEMachine() == ELF::EM_AARCH64)
    for (DeviceProfile &device : *devices)
      device.kernel.codeFolioBytes = aarch64CodeFolioBytes;
  std::vector<FileSegment> segments =
      orExit(readSegments(program.bytes()), binaryArgument + ": ", linkedFileNote);
  std::optional<AskedRanges> prefetch = prefetchedRanges(program, segments);
  if (!prefetch)
    fail(exitUsage, "--prefetched=" + prefetchedOption + ": is not a size",
         "give auto, front, none, all or bytes");
  std::optional<ProgramFile> recorded;
  std::optional<SymbolMap> map;
  if (!recordedOption.empty()) {
    recorded.emplace(recordedOption);
    // A map would lose data without symbols, and names are not unique.
    if (!recorded->isSameBuild(program))
      map.emplace(orExit(SymbolMap::create(recorded->build(), program.build()), "",
                         "predict with files that are not stripped"));
  }
  Question question = {program,
                       std::move(segments),
                       recorded ? *recorded : program,
                       map ? &*map : nullptr,
                       std::move(*devices),
                       std::move(*prefetch),
                       prefetchedOption == "all" || prefetchedOption == "front",
                       {},
                       {}};
  if (!blocksOption.empty()) {
    std::unique_ptr<MemoryBuffer> text = readInput(blocksOption, readableNote);
    question.image = orExit(readImageBlocks(text->getBuffer()), blocksOption + ": ",
                            "frontload predict makes it of an image");
  }
  if (!listedOption.empty())
    for (FileOfStart &file : filesOfStart(listedOption))
      if (sys::fs::equivalent(file.path, binaryArgument))
        question.listed = std::move(file.touched);
  if (touchesOption) {
    printTouches(question, traceArguments);
    return EXIT_SUCCESS;
  }
  std::vector<Prediction> predictions;
  auto runs = groupByRun(traceArguments);
  for (const std::vector<std::string> &run : runs)
    predictions.push_back(predict(question, run));
  printPredictions(question, predictions);
  return EXIT_SUCCESS;
}
