// Puts breakpoints into the memory of a process, and takes them out.
#include "address_space.h"

#include "copied_code.h"
#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>
#include <cstring>
#include <unordered_map>

using namespace llvm;
using namespace frontload;

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
  if (!copy.original() || (isPredicted && copy.origin() != predicted))
    return std::nullopt;
  copyDistance = address - copy.origin();
  return copy.original();
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
    for (uint64_t at = 0; at < bytes.size(); at += arch::breakpoint.size()) {
      if (!ArrayRef(bytes)
               .drop_front(at)
               .take_front(arch::breakpoint.size())
               .equals(arch::breakpoint))
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
