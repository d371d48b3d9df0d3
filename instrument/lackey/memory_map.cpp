// Reads /proc/PID/maps.
#include "memory_map.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace frontload;

namespace {
/// A line: "00109000-0010a000 r-xp 00001000 fe:00 10019251      /a/program".
struct MapsLine {
  uint64_t begin, end, offset;
  bool isCode;
  StringRef path;
};
} // namespace

static std::optional<MapsLine> parse(StringRef text) {
  MapsLine line;
  StringRef permissions, ignored, rest = text;
  if (rest.consumeInteger(16, line.begin) || !rest.consume_front("-") ||
      rest.consumeInteger(16, line.end) || line.end <= line.begin)
    return std::nullopt;
  std::tie(permissions, rest) = rest.ltrim(' ').split(' ');
  if (rest.consumeInteger(16, line.offset))
    return std::nullopt;
  for (int field = 0; field < 2; ++field) // device, inode
    std::tie(ignored, rest) = rest.ltrim(' ').split(' ');
  line.isCode = permissions.contains('x');
  line.path = rest.ltrim(' ');
  return line;
}

void MemoryMap::read(pid_t process, Modules &modules) {
  auto file = MemoryBuffer::getFileAsStream("/proc/" + Twine(process) + "/maps");
  if (!file)
    return;
  std::vector<Mapping> newMappings;
  std::vector<MapsLine> lines;
  for (StringRef text : split((*file)->getBuffer(), '\n')) {
    std::optional<MapsLine> line = parse(text);
    if (!line)
      continue;
    lines.push_back(*line);
    const Module *module = line->isCode ? modules.find(line->path) : nullptr;
    if (!module)
      continue;
    auto isMapped = [&](uint64_t bias) {
      return any_of(newMappings, [&](const Mapping &mapping) {
        return mapping.module == module && mapping.bias == bias;
      });
    };
    auto bias = module->loadBias(line->begin, line->end - line->begin, line->offset, isMapped);
    if (bias && !isMapped(*bias))
      newMappings.push_back({module, *bias});
  }
  if (none_of(newMappings,
              [&](const Mapping &mapping) { return mapping.module == &modules.program(); }))
    return;

  mappingList = std::move(newMappings);
  regions.clear();
  for (const Mapping &mapping : mappingList) {
    const Module &module = *mapping.module;
    auto add = [&](uint64_t begin, uint64_t end, bool isLoader) {
      if (begin < end)
        regions.push_back({begin, end, &module, isLoader});
    };
    uint64_t relocator = std::clamp(module.relocatorBegin, module.memoryBegin, module.memoryEnd);
    uint64_t relocatorEnd = std::clamp(module.relocatorEnd, relocator, module.memoryEnd);
    add(mapping.begin(), mapping.bias + relocator, module.isLoader);
    add(mapping.bias + relocator, mapping.bias + relocatorEnd, true);
    add(mapping.bias + relocatorEnd, mapping.end(), module.isLoader);
  }
  for (const MapsLine &line : lines)
    if (none_of(mappingList, [&](const Mapping &mapping) {
          return line.begin < mapping.end() && mapping.begin() < line.end;
        }))
      regions.push_back({line.begin, line.end, nullptr, false});
  llvm::sort(regions, [](auto &a, auto &b) { return a.begin < b.begin; });
}

const Region *MemoryMap::find(uint64_t address) const {
  auto next = llvm::upper_bound(regions, address,
                                [](uint64_t value, auto &region) { return value < region.begin; });
  if (next == regions.begin() || !std::prev(next)->contains(address))
    return nullptr;
  return &*std::prev(next);
}

const Region *MemoryMap::addUnknownPage(uint64_t address) {
  constexpr uint64_t pageSize = 4096;
  auto next = llvm::upper_bound(regions, address,
                                [](uint64_t value, auto &region) { return value < region.begin; });
  Region page = {address / pageSize * pageSize, (address / pageSize + 1) * pageSize, nullptr,
                 false};
  if (next != regions.begin())
    page.begin = std::max(page.begin, std::prev(next)->end);
  if (next != regions.end())
    page.end = std::min(page.end, next->begin);
  return &*regions.insert(next, page);
}
