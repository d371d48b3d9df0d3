// Puts breakpoints into the memory of a process, and takes them out.
#include "address_space.h"

#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>
#include <unordered_map>

using namespace llvm;
using namespace frontload;

ProcessMemory::ProcessMemory(pid_t process)
    : file(open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDWR | O_CLOEXEC)) {
  if (file < 0)
    openError = errno;
}

ProcessMemory::~ProcessMemory() {
  if (file >= 0)
    close(file);
}

int ProcessMemory::refusal() const {
  return openError == EACCES || openError == EPERM ? openError : 0;
}

bool ProcessMemory::read(pid_t stopped, uint64_t address, MutableArrayRef<uint8_t> bytes) const {
  if (file >= 0)
    return pread(file, bytes.data(), bytes.size(), address) == ssize_t(bytes.size());
  iovec here = {bytes.data(), bytes.size()};
  iovec there = {reinterpret_cast<void *>(address), bytes.size()};
  return process_vm_readv(stopped, &here, 1, &there, 1, 0) == ssize_t(bytes.size());
}

/// Reads and writes the words that hold these bytes as a whole.
static bool pokeWords(pid_t stopped, uint64_t address, ArrayRef<uint8_t> bytes) {
  uint64_t end = address + bytes.size();
  for (uint64_t at = alignDown(address, sizeof(long)); at < end; at += sizeof(long)) {
    errno = 0;
    long word = ptrace(PTRACE_PEEKDATA, stopped, at, nullptr);
    if (errno != 0)
      return false;
    uint64_t from = std::max(at, address), to = std::min(at + sizeof(long), end);
    memcpy(reinterpret_cast<uint8_t *>(&word) + (from - at), bytes.data() + (from - address),
           to - from);
    if (ptrace(PTRACE_POKEDATA, stopped, at, word) != 0)
      return false;
  }
  return true;
}

bool ProcessMemory::write(pid_t stopped, uint64_t address, ArrayRef<uint8_t> bytes) const {
  return (file >= 0 &&
          pwrite(file, bytes.data(), bytes.size(), address) == ssize_t(bytes.size())) ||
         pokeWords(stopped, address, bytes);
}

/// Reads the pages of sites, in whole extents, and shows each with its address in the file and its
/// sites.
static void visitPages(const ProcessMemory &memory, pid_t stopped, ArrayRef<Site> sites,
                       uint64_t bias,
                       function_ref<void(uint64_t, ArrayRef<uint8_t>, ArrayRef<Site>)> visit) {
  static const uint64_t pageSize = sysconf(_SC_PAGESIZE);
  constexpr uint64_t maxExtent = 1 << 20;
  std::vector<uint8_t> pages;
  while (!sites.empty()) {
    uint64_t begin = alignDown(sites.front().address, pageSize);
    uint64_t end = begin + pageSize;
    size_t count = 1;
    for (; count < sites.size() && end - begin < maxExtent; ++count) {
      uint64_t page = alignDown(sites[count].address, pageSize);
      if (page > end)
        break;
      end = page + pageSize;
    }
    pages.resize(end - begin);
    if (memory.read(stopped, bias + begin, pages)) // not mapped: no code, no breakpoints either
      visit(begin, pages, sites.take_front(count));
    sites = sites.drop_front(count);
  }
}

/// Shows the code at each site to `edit`, which returns true if it has changed the code. Writes
/// only bytes of sites: other threads may run, and a program may write its own code.
static bool editSites(const ProcessMemory &memory, pid_t stopped, const Program &program,
                      uint64_t bias, function_ref<bool(const Site &, arch::Code &)> edit) {
  bool allWritten = true;
  visitPages(memory, stopped, program.sites(), bias,
             [&](uint64_t begin, ArrayRef<uint8_t> pages, ArrayRef<Site> sites) {
               for (const Site &site : sites) {
                 arch::Code code;
                 memcpy(code.data(), &pages[site.address - begin], code.size());
                 if (edit(site, code) && !memory.write(stopped, bias + site.address, code))
                   allWritten = false;
               }
             });
  return allWritten;
}

/// Puts back the code at one site, unless that has been done.
static void restore(const ProcessMemory &memory, pid_t stopped, const Site &site, uint64_t bias) {
  arch::Code code;
  if (memory.read(stopped, bias + site.address, code) && code == arch::breakpoint)
    memory.write(stopped, bias + site.address, site.original);
}

AddressSpace::AddressSpace(TraceFolder &traces, ProgramRef program, pid_t pid, TraceRun run)
    : folder(traces), mainProgram(program), memory(pid),
      trace(folder, {program->path, program->buildId}, pid, std::move(run)) {
  modules[moduleFor(mainProgram)].traceNumber = 1;
}

/// The same file, or a copy of it.
static bool areSame(const Program &one, const Program &other) {
  return &one == &other || (!one.buildId.empty() && one.buildId == other.buildId &&
                            one.functionCount() == other.functionCount());
}

size_t AddressSpace::moduleFor(const ProgramRef &program) {
  auto known = llvm::find_if(
      modules, [&](const Module &module) { return areSame(*module.program, *program); });
  if (known == modules.end())
    known = modules.insert(known, {program, BitVector(program->functionCount(), true)});
  return known - modules.begin();
}

bool AddressSpace::overlaps(const Mapping &mapping, uint64_t begin, uint64_t end) const {
  ArrayRef<Site> sites = modules[mapping.module].program->sites();
  return !sites.empty() && mapping.bias + sites.front().address < end &&
         begin <= mapping.bias + sites.back().address;
}

Error AddressSpace::map(pid_t stopped, const ProgramRef &program, uint64_t bias) {
  if (program->sites().empty() || isClean)
    return Error::success();
  if (int problem = memory.refusal()) {
    errno = problem;
    return systemError(program->path, "not recorded: cannot open its memory");
  }
  size_t number = moduleFor(program);
  Module &module = modules[number];
  // Earlier mappings there are gone. A file with two segments of code comes here once for each.
  uint64_t begin = bias + program->sites().front().address;
  uint64_t end = bias + program->sites().back().address + 1;
  llvm::erase_if(mappings, [&](const Mapping &mapping) { return overlaps(mapping, begin, end); });
  mappings.push_back({number, bias, ++mapCount});

  bool allWritten =
      editSites(memory, stopped, *module.program, bias, [&](const Site &site, arch::Code &code) {
        if (!module.untouched.test(site.function) || code != site.original)
          return false;
        code = arch::breakpoint;
        return true;
      });
  if (!allWritten)
    return systemError(program->path, "not recorded: cannot write its memory");
  return Error::success();
}

bool AddressSpace::isMapped(const Program &program, uint64_t bias) const {
  return llvm::any_of(mappings, [&](const Mapping &mapping) {
    return mapping.bias == bias && areSame(*modules[mapping.module].program, program);
  });
}

void AddressSpace::unmap(uint64_t begin, uint64_t end, uint64_t time) {
  llvm::erase_if(mappings, [&](const Mapping &mapping) {
    return mapping.time <= time && overlaps(mapping, begin, end);
  });
}

std::shared_ptr<AddressSpace> AddressSpace::fork(pid_t child) const {
  auto copy = std::make_shared<AddressSpace>(folder, mainProgram, child, trace.forkedRun());
  copy->modules = modules;
  copy->mappings = mappings;
  copy->mapCount = mapCount;
  copy->restoredCopies = restoredCopies;
  copy->copyDistance = copyDistance;
  copy->isClean = isClean;
  for (Module &module : drop_begin(copy->modules))
    module.traceNumber = 0;
  // The breakpoints in the child's memory stay: it ends at the first one, unless it executes a
  // program before.
  if (copy->memory.refusal())
    error(mainProgram->path + ": process " + Twine(child) +
          " closed its memory before it forked, so it cannot be traced further: trace it as root");
  return copy;
}

AddressSpace::Hit AddressSpace::hit(pid_t thread, uint64_t address, bool isRecording) {
  if (memory.refusal())
    return {false, false};
  for (const Mapping &mapping : mappings) {
    Module &module = modules[mapping.module];
    const Program &program = *module.program;
    std::optional<uint32_t> function = program.functionWithSiteAt(address - mapping.bias);
    if (!function)
      continue;
    ArrayRef<Site> sites = program.sitesOf(*function);
    for (const Site &site : sites)
      restore(memory, thread, site, mapping.bias);
    if (!module.untouched.test(*function) || !isRecording)
      return {true, false};
    module.untouched.reset(*function);
    if (module.traceNumber == 0)
      module.traceNumber = trace.addModule({program.path, program.buildId});
    trace.addEvent(program.isBlock(*function) ? FRONTLOAD_BLOCK : FRONTLOAD_FUNCTION,
                   module.traceNumber, sites.front().address, thread);
    return {true, program.endsRecording(*function)};
  }
  return {false, false};
}

namespace {
/// Recognises a copy of code in which breakpoints were, and decides how much likeness is enough.
///
/// A program may copy its functions to another page and run the copy, as hooking libraries and
/// engines with built-in machine code do. It copies breakpoints too. The bytes around one in a copy
/// are those around the site that it was copied from.
struct CopiedCode {
  /// A breakpoint is at `address`, where no site is. With `isExecuted`, a thread has trapped there.
  CopiedCode(const ProcessMemory &memory, pid_t thread, uint64_t address, bool isExecuted);

  /// Compares the copy with each site of some code, which begins at `begin`, as in the file.
  void compare(ArrayRef<uint8_t> planted, uint64_t begin, ArrayRef<Site> sites, uint64_t bias);

  std::vector<uint8_t> bytes;
  size_t at = 0;       // in these bytes, the breakpoint
  size_t minAlike;     // fewer neighbours may be alike by accident
  size_t alike = 0;    // the number of bytes beside the best site that are those of the copy
  uint64_t origin = 0; // where in memory that site is
  /// The code that the breakpoint replaces; nothing if no site is like it, or they differ in this.
  std::optional<arch::Code> original;
};
} // namespace

static std::ifstream openProc(pid_t thread, const char *file) {
  return std::ifstream("/proc/" + std::to_string(thread) + "/" + file);
}

/// Where a process has executable memory that is not from a file: begin and end.
static std::vector<std::pair<uint64_t, uint64_t>> writtenCode(pid_t thread) {
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
      original = each.original;
    else if (original != each.original)
      original = std::nullopt;
    alike = count;
    origin = bias + each.address;
  }
}

std::optional<arch::Code> AddressSpace::originalOfCopy(pid_t thread, uint64_t address,
                                                       bool isExecuted, bool isPredicted) {
  const uint64_t predicted = address - copyDistance;
  CopiedCode copy(memory, thread, address, isExecuted);
  for (const Mapping &mapping : mappings) {
    const Program &program = *modules[mapping.module].program;
    visitPages(memory, thread,
               isPredicted ? program.sitesNear(predicted - mapping.bias) : program.sites(),
               mapping.bias, [&](uint64_t begin, ArrayRef<uint8_t> pages, ArrayRef<Site> sites) {
                 copy.compare(pages, begin, sites, mapping.bias);
               });
  }
  if (!copy.original || (isPredicted && copy.origin != predicted))
    return std::nullopt;
  copyDistance = address - copy.origin;
  return copy.original;
}

bool AddressSpace::restoreCopy(pid_t thread, uint64_t address) {
  arch::Code code;
  if (memory.refusal() || !memory.read(thread, address, code))
    return false;
  if (code != arch::breakpoint) // restored for another thread
    return restoredCopies.contains(address);
  // Programs copy whole pieces: most copies are as far from their site as the one before.
  auto original = originalOfCopy(thread, address, /*isExecuted=*/true, /*isPredicted=*/true);
  if (!original)
    original = originalOfCopy(thread, address, /*isExecuted=*/true, /*isPredicted=*/false);
  if (!original || !memory.write(thread, address, *original))
    return false;
  restoredCopies.insert(address);
  return true;
}

void AddressSpace::restoreCopies(pid_t stopped) {
  constexpr uint64_t maxSize = 1 << 28; // of all copies, and of what is compiled at run time
  auto ranges = writtenCode(stopped);
  std::unordered_map<uint64_t, uint64_t> origins; // of sites, by the code that follows them
  std::vector<uint8_t> bytes;
  auto keyAt = [](ArrayRef<uint8_t> code, uint64_t offset) -> std::optional<uint64_t> {
    constexpr size_t keySize = 15; // functions are often 16 bytes apart
    offset += arch::breakpoint.size();
    if (offset + keySize > code.size())
      return std::nullopt;
    return xxh3_64bits(code.slice(offset, keySize));
  };
  for (const Mapping &mapping : mappings)
    if (!ranges.empty())
      visitPages(memory, stopped, modules[mapping.module].program->sites(), mapping.bias,
                 [&](uint64_t begin, ArrayRef<uint8_t> pages, ArrayRef<Site> sites) {
                   for (const Site &site : sites)
                     if (auto key = keyAt(pages, site.address - begin))
                       origins.try_emplace(*key, mapping.bias + site.address);
                 });
  uint64_t left = maxSize;
  for (auto [begin, end] : ranges) {
    bytes.resize(std::min(end - begin, left));
    left -= bytes.size();
    if (!memory.read(stopped, begin, bytes))
      continue;
    constexpr size_t size = arch::breakpoint.size();
    for (uint64_t at = 0; at + size <= bytes.size(); at += size) {
      if (!ArrayRef(bytes).slice(at, size).equals(arch::breakpoint))
        continue;
      auto key = keyAt(bytes, at);
      auto found = key ? origins.find(*key) : origins.end();
      if (found == origins.end())
        continue;
      copyDistance = begin + at - found->second;
      if (auto code = originalOfCopy(stopped, begin + at, /*isExecuted=*/false,
                                     /*isPredicted=*/true))
        memory.write(stopped, begin + at, *code);
    }
  }
}

void AddressSpace::codeWasRead(pid_t thread) {
  if (!isClean && removeBreakpoints(thread))
    noteOnce(mainProgram->path + ": reads its own code, where breakpoints were: its recording ends "
                                 "here; record it with --data, or --with runtime");
}

std::vector<uint64_t> AddressSpace::watchedPlaces() const {
  std::vector<uint64_t> places;
  if (!isClean && !mappings.empty())
    for (uint64_t begin : modules[mappings[0].module].program->codeBegins())
      places.push_back(mappings[0].bias + begin);
  return places;
}

bool AddressSpace::removeBreakpoints(pid_t stopped) {
  if (isClean || memory.refusal())
    return isClean;
  // The memory decides, not our records: a fork may have copied a breakpoint that was hit in the
  // parent at the same moment.
  auto putBack = [](const Site &site, arch::Code &code) {
    if (code != arch::breakpoint)
      return false;
    code = site.original;
    return true;
  };
  isClean = llvm::all_of(mappings, [&](const Mapping &mapping) {
    return editSites(memory, stopped, *modules[mapping.module].program, mapping.bias, putBack);
  });
  if (isClean)
    restoreCopies(stopped);
  return isClean;
}
