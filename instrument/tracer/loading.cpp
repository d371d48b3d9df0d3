// Looks at processes at their execs and mappings, through /proc and ptrace.
#include "loading.h"

#include "base/memory_limit.h"
#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace llvm;
using namespace frontload;

Loading::Loading(TraceFolder &traces, ArrayRef<std::string> modules, std::string onlyProgram,
                 std::string untilFunction, bool blocksWanted)
    : folder(traces), until(std::move(untilFunction)), wantsBlocks(blocksWanted) {
  if (!onlyProgram.empty())
    only = {std::move(onlyProgram)};
  for (const std::string &name : modules)
    wanted.push_back({name});
}

static Error notRecorded(const Twine &path, const Twine &reason) {
  return createStringError(path + ": not recorded: " + reason);
}

/// The name of a file that cannot be opened. If a program may not be read, the kernel only tells
/// its name.
static std::string nameBehind(const std::string &link) {
  SmallString<256> path;
  if (!sys::fs::real_path(link, path))
    return path.str().str();
  if (auto name = MemoryBuffer::getFileAsStream(sys::path::parent_path(link) + "/comm"))
    return (*name)->getBuffer().trim().str();
  return link;
}

Expected<ProgramRef> Loading::programAt(const std::string &link) {
  SmallString<256> path;
  auto file = sys::fs::openNativeFileForRead(link, sys::fs::OF_None, &path);
  if (!file)
    return notRecorded(nameBehind(link), toString(file.takeError()));
  scope_exit closeIt([&] { sys::fs::closeFile(*file); });
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(*file, status))
    return notRecorded(path, code.message());

  FileKey key = {status.getUniqueID(), status.getLastModificationTime(), status.getSize()};
  if (auto known = programs.find(key); known != programs.end())
    return known->second;
  auto buffer = MemoryBuffer::getOpenFile(*file, path, status.getSize(),
                                          /*RequiresNullTerminator=*/false);
  if (!buffer)
    return notRecorded(path, buffer.getError().message());
  auto program = Program::read(**buffer, until, wantsBlocks);
  if (!program)
    return notRecorded(path, toString(program.takeError()));
  untilSeen |= program->hasUntilFunction();
  // A recording of a whole build executes many programs; ended ones can be read again.
  constexpr size_t maxPrograms = 64;
  if (programs.size() >= maxPrograms)
    std::erase_if(programs, [](auto &entry) { return entry.second.use_count() == 1; });
  return programs[key] = std::make_shared<const Program>(std::move(*program));
}

static std::string procPath(pid_t thread, const Twine &file) {
  return ("/proc/" + Twine(thread) + "/" + file).str();
}

static Expected<std::map<uint64_t, uint64_t>> readAuxiliaryVector(pid_t process) {
  auto file = MemoryBuffer::getFileAsStream(procPath(process, "auxv"));
  if (!file)
    return errorCodeToError(file.getError());
  std::map<uint64_t, uint64_t> vector;
  StringRef bytes = (*file)->getBuffer();
  for (; bytes.size() >= 16; bytes = bytes.drop_front(16)) {
    uint64_t type = support::endian::read64(bytes.data(), endianness::native);
    vector[type] = support::endian::read64(bytes.data() + 8, endianness::native);
  }
  return vector;
}

/// Notes that a traced program does not get the rights of its file, which may change its behaviour.
static void noteLostRights(pid_t process, StringRef path) {
  if (geteuid() != 0 && hasOwnRights(procPath(process, "exe").c_str()) &&
      prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0)
    noteOnce(path +
             ": set-user-id, set-group-id or with capabilities: it runs without these rights "
             "while it is traced; record it as root");
}

void Loading::plant(AddressSpace &space, pid_t stopped, const ProgramRef &program, uint64_t bias) {
  if (program->hasWritableCode())
    noteOnce(program->path + ": its writable code is not recorded, since it may change: record it "
                             "with --data, or --with runtime");
  else if (program->sites().empty())
    noteOnce(program->path + (program->doubtful() ? ": nothing says which symbols are code, not "
                                                    "recorded: build it with unwind information"
                                                  : ": no symbol table, not recorded"));
  else if (program->doubtful() > program->functionCount())
    noteOnce(program->path + ": " + Twine(program->doubtful()) +
             " of its functions are not recorded, since only their symbols say that they are code: "
             "build it with unwind information (-fasynchronous-unwind-tables)");
  else if (wantsBlocks && !program->hasBlocks())
    noteOnce(program->path + ": has no map of its basic blocks that fits its code, so only its "
                             "functions are recorded: compile it with -fbasic-block-address-map");
  if (program->inside())
    noteOnce(program->path + ": " + Twine(program->inside()) +
             " of its functions are not recorded, since they may begin inside of an instruction, "
             "as behind a prefix: record it with --data, or --with runtime");
  // Breakpoints that would end the program are not planted. Half of the memory left is for the
  // program.
  uint64_t needed = program->plantedBytes();
  uint64_t left =
      memory_left(procPath(stopped, "cgroup").c_str(), CGROUP_MOUNT, /*enough=*/2 * needed);
  if (needed > left / 2) {
    noteOnce(formatv("{0}: not recorded: breakpoints make {1:F1} MB of its code memory of its own, "
                     "and its control group has {2:F1} MB left: raise the limit while you record",
                     program->path, needed / 1e6, left / 1e6));
    return;
  }
  if (program->importsPtrace())
    noteOnce(program->path + ": can call ptrace, as a debugger or a crash handler does: that fails "
                             "on processes that are recorded");
  if (Error error = space.map(stopped, program, bias))
    noteOnce(toString(std::move(error)));
}

/// The role in the environment of a process. Nothing else of the environment is kept.
static std::string roleInEnvironment(pid_t process, const std::string &otherwise) {
  auto file = MemoryBuffer::getFileAsStream(procPath(process, "environ"));
  if (!file)
    return otherwise;
  for (StringRef variable : split((*file)->getBuffer(), '\0')) {
    if (!variable.consume_front(FRONTLOAD_ROLE_VARIABLE "="))
      continue;
    char role[FRONTLOAD_ROLE_SIZE];
    if (variable.empty() || frontload_copy_role(role, variable.str().c_str()))
      return variable.str();
    noteOnce(FRONTLOAD_ROLE_VARIABLE ": " FRONTLOAD_NO_ROLE);
    break;
  }
  return otherwise;
}

std::shared_ptr<AddressSpace> Loading::execute(pid_t process, const std::string &formerRole) {
  auto space = begin(process, roleInEnvironment(process, formerRole));
  if (space)
    return *space;
  noteOnce(toString(space.takeError()));
  return nullptr;
}

Expected<std::shared_ptr<AddressSpace>> Loading::begin(pid_t process, const std::string &role) {
  std::string link = procPath(process, "exe");
  auto program = programAt(link);
  if (!program)
    return program.takeError();
  if ((*program)->isLoader())
    return createStringError((*program)->path + ": a loader, not recorded: run the program itself");
  auto vector = readAuxiliaryVector(process);
  if (!vector)
    return createStringError((*program)->path + ": not recorded: " + toString(vector.takeError()));
  noteLostRights(process, (*program)->path);
  auto space = std::make_shared<AddressSpace>(folder, *program, process, TraceRun::begin(role));
  if (space->isOfTracer()) {
    noteOnce((*program)->path + ": not recorded, nor what it starts: it traces processes, as a "
                                "debugger or LeakSanitizer does, and a process has one tracer");
    return space;
  }
  if (only && !(*program)->isNamed(only->name))
    return nullptr;
  if (only)
    only->wasSeen = true;
  plant(*space, process, *program, (*vector)[AT_ENTRY] - (*program)->entry);
  // The kernel has mapped the loader too.
  if (followsLibraries() && (*vector)[AT_BASE] != 0)
    if (ProgramRef loader = wantedLibrary(procPath(process, "root") + (*program)->interpreter))
      plant(*space, process, loader, (*vector)[AT_BASE]);
  return space;
}

void Loading::systemCall(pid_t thread, AddressSpace &space, Call &call) {
  __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0)
    return; // killed meanwhile
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    bool isOfInterest =
        info.arch == arch::auditArch && (info.entry.nr == SYS_mmap || info.entry.nr == SYS_munmap);
    call.number = isOfInterest ? info.entry.nr : 0;
    llvm::copy(info.entry.args, call.arguments.begin());
    call.time = space.clock();
    return;
  }
  if (info.op == PTRACE_SYSCALL_INFO_EXIT && call.number != 0 && !info.exit.is_error) {
    if (call.number == SYS_munmap)
      space.unmap(call.arguments[0], call.arguments[0] + call.arguments[1], call.time);
    else
      mapped(space, thread, call, info.exit.rval);
  }
  call.number = 0;
}

void Loading::mapped(AddressSpace &space, pid_t thread, const Call &call, uint64_t address) {
  auto [ignored, size, protection, flags, file, offset] = call.arguments;
  // Writing into a shared mapping would write into the file.
  if (!(protection & PROT_EXEC) || (flags & MAP_ANONYMOUS) || (flags & MAP_TYPE) != MAP_PRIVATE)
    return;
  std::string link = procPath(thread, "fd/" + Twine(int(file)));
  ProgramRef library = wantedLibrary(link);
  if (!library)
    return;
  auto isMapped = [&](uint64_t bias) { return space.isMapped(*library, bias); };
  if (auto bias = library->loadBias(address, size, offset, isMapped))
    plant(space, thread, library, *bias);
}

ProgramRef Loading::wantedLibrary(const std::string &link) {
  auto program = programAt(link);
  if (!program) {
    noteOnce(toString(program.takeError()));
    return nullptr;
  }
  bool isWanted = false;
  for (WantedModule &module : wanted)
    if ((*program)->isNamed(module.name))
      isWanted = module.wasSeen = true;
  return isWanted ? *program : nullptr;
}

void Loading::warnAboutUnseen() const {
  for (const WantedModule &module : wanted)
    if (!module.wasSeen)
      warning("--module=" + module.name + ": no recorded program loaded it");
  if (only && !only->wasSeen)
    warning("--program=" + only->name + ": no process executed it");
  if (!until.empty() && !untilSeen)
    warning("--until=" + until + ": no recorded program has a function of this name");
}
