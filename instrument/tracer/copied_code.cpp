// Compares neighbours of breakpoints, and decides how much likeness is enough.
#include "copied_code.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>

using namespace llvm;
using namespace frontload;

static std::ifstream openProc(pid_t thread, const char *file) {
  return std::ifstream("/proc/" + std::to_string(thread) + "/" + file);
}

std::vector<std::pair<uint64_t, uint64_t>> frontload::writtenCode(pid_t thread) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  std::ifstream maps = openProc(thread, "maps");
  for (std::string line; std::getline(maps, line);) {
    auto [begin, rest] = StringRef(line).split('-');
    auto [end, protection] = rest.split(' ');
    std::pair<uint64_t, uint64_t> range;
    auto has = [&](const char *text) { return line.find(text) != line.npos; };
    bool isGiven = (has("/") && !has("/memfd:")) || has("[v"); // a file, or the kernel's
    if (!isGiven && protection.substr(2, 1) == "x" && !begin.getAsInteger(16, range.first) &&
        !end.getAsInteger(16, range.second))
      ranges.push_back(range);
  }
  return ranges;
}

/// Whether a program that traps at `address` would end, if the breakpoint there were its own: no
/// handler waits for the signal, and no file has the code.
static bool wouldEnd(pid_t thread, uint64_t address) {
  std::ifstream status = openProc(thread, "status");
  for (std::string line; std::getline(status, line);)
    if (StringRef text(line); text.consume_front("SigCgt:")) {
      uint64_t caught;
      return !text.trim().getAsInteger(16, caught) && !(caught >> (SIGTRAP - 1) & 1) &&
             llvm::any_of(writtenCode(thread), [&](auto &range) {
               return range.first <= address && address < range.second;
             });
    }
  return false;
}

CopiedCode::CopiedCode(const ProcessMemory &memory, pid_t thread, uint64_t address,
                       bool isExecuted) {
  constexpr uint64_t maxBefore = 64, maxSize = 192;
  constexpr size_t fewBytes = 4, manyBytes = 15;
  static const uint64_t pageSize = sysconf(_SC_PAGESIZE);
  minAlike = isExecuted && wouldEnd(thread, address) ? fewBytes : manyBytes;
  uint64_t page = alignDown(address, pageSize);
  uint64_t begin = std::max(address - maxBefore, page);
  at = address - begin;
  // The next page need not be there.
  bytes.resize(maxSize);
  if (!memory.read(thread, begin, bytes)) {
    bytes.resize(std::min(maxSize, page + pageSize - begin));
    if (!memory.read(thread, begin, bytes))
      bytes.clear();
  }
}

void CopiedCode::compare(ArrayRef<uint8_t> planted, uint64_t begin, ArrayRef<Site> sites,
                         uint64_t bias) {
  // The copy may be older or younger than the moment when a site was restored.
  std::vector<uint8_t> clean = planted.vec(), full = planted.vec();
  for (const Site &each : sites) {
    llvm::copy(each.original, &clean[each.address - begin]);
    llvm::copy(arch::breakpoint, &full[each.address - begin]);
  }
  for (const Site &each : sites) {
    size_t place = each.address - begin, size = each.original.size(), count = 0;
    auto isAlike = [&](size_t there, size_t here) {
      return bytes[here] == clean[there] || bytes[here] == full[there];
    };
    for (size_t i = size;
         at + i < bytes.size() && place + i < clean.size() && isAlike(place + i, at + i); ++i)
      ++count;
    for (size_t i = 1; i <= at && i <= place && isAlike(place - i, at - i); ++i)
      ++count;
    if (count < std::max(alike, minAlike))
      continue;
    if (count > alike)
      code = each.original;
    else if (code != each.original)
      code = std::nullopt;
    alike = count;
    best = bias + each.address;
  }
}
