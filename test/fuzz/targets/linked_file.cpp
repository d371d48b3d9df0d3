// What is read of a linked file by its addresses: its segments and front, what the dynamic linker
// does with it, where it has pointers; itself as another build of it; and its code.
#include "cold_start/program_loading.h"
#include "cold_start/start_model.h"
#include "predict/code_walk.h"
#include "predict/startup_pages.h"
#include "predict/symbol_map.h"
#include "target.h"

using namespace frontload;
using namespace llvm;
using namespace llvm::object;

static void findInItself(StringRef bytes, ArrayRef<FileSegment> segments) {
  auto object = ObjectFile::createELFObjectFile(MemoryBufferRef(bytes, "input"));
  if (!object)
    return consumeError(object.takeError());
  auto &elf = cast<ELFObjectFileBase>(**object);
  auto map = SymbolMap::create(elf, elf);
  if (!map)
    return consumeError(map.takeError());
  std::vector<uint64_t> touched;
  for (const FileSegment &segment : segments)
    for (uint64_t at = 0; at < std::min<uint64_t>(segment.fileBytes, 1 << 14); at += 256)
      touched.push_back(segment.address + at);
  map->learn(touched);
  for (uint64_t address : touched)
    map->find(address);
}

/// As code of both machines, whatever it is.
static void walkThrough(const LinkedFile &file) {
  for (uint16_t machine : {ELF::EM_X86_64, ELF::EM_AARCH64}) {
    CodeWalk walk(file, machine, /*hasFixedAddresses=*/true);
    for (const FileSegment &segment : file.segments)
      walk.walk(segment.address, std::min<uint64_t>(segment.fileBytes, 1 << 14),
                {[&](uint64_t address, uint64_t size) { must(size && address + size > address); },
                 [](uint64_t) {}, [](uint64_t address) { return address % 2 != 0; }});
  }
  static const StartupProfile profile =
      cantFail(parseStartupProfile("profile", "frontload-startup-profile 2\nprogram app\nruns 1\n"
                                              "function\ttext\t1\t+1\t-\tmain\n"
                                              "function\ttext\t1\t+1\t-\t_start\n"));
  auto pages = startupPages(file.bytes, MemoryBufferRef(file.bytes, "input"), profile);
  if (!pages)
    return consumeError(pages.takeError());
  for (PageRange range : pages->ranges)
    must(range.count && (range.first + range.count - 1) * 4096 < file.bytes.size());
}

static void readInput(StringRef bytes) {
  auto segments = readSegments(bytes);
  if (!segments)
    return consumeError(segments.takeError());
  LinkedFile file = {bytes, *segments};
  for (const FileSegment &segment : *segments)
    must(segment.offset <= bytes.size() && segment.fileBytes <= bytes.size() - segment.offset);
  prefetchesItself(file);
  AskedRanges ranges = frontRanges(file);
  for (FileRange range : concat<const FileRange>(ranges.front, ranges.tail))
    must(range.begin < range.end && range.end <= bytes.size());
  StartModel model(deviceProfiles().front(), bytes.size(), *segments);
  model.execute();
  consumeError(loadProgram(bytes, *segments,
                           {[&](uint64_t address) { model.read(address); },
                            [&](uint64_t address) { model.write(address); },
                            [&] { model.prefetch(ranges.front, ranges.tail); }}));
  model.counts();
  findInItself(bytes, *segments);
  walkThrough(file);
}
