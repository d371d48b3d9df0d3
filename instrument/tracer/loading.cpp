// Looks at processes at their execs and mappings, through /proc and ptrace.
#include "loading.h"

#include "base/memory_limit.h"
#include "other_tracers.h"
#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <linux/capability.h>
#include <linux/xattr.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

using namespace llvm;
using namespace frontload;

Loading::Loading(TraceFolder &traces, std::vector<std::string> modules, std::string untilFunction,
                 bool wantsBlocks)
    : folder(traces), wanted(std::move(modules)), until(untilFunction),
      programs(untilFunction, wantsBlocks) {}

static std::string procPath(pid_t thread, const Twine &file) {
  return ("/proc/" + Twine(thread) + "/" + file).str();
}

namespace {
/// The values of a process's auxiliary vector that are used here.
struct AuxiliaryVector {
  uint64_t entry = 0, interpreterBase = 0, effectiveUser = 0, effectiveGroup = 0;
};
} // namespace

static Expected<AuxiliaryVector> readAuxiliaryVector(pid_t process) {
  auto file = MemoryBuffer::getFileAsStream(procPath(process, "auxv"));
  if (!file)
    return errorCodeToError(file.getError());
  AuxiliaryVector vector;
  StringRef bytes = (*file)->getBuffer();
  for (; bytes.size() >= 16; bytes = bytes.drop_front(16)) {
    uint64_t type = support::endian::read64(bytes.data(), endianness::native);
    uint64_t value = support::endian::read64(bytes.data() + 8, endianness::native);
    if (type == AT_ENTRY)
      vector.entry = value;
    else if (type == AT_BASE)
      vector.interpreterBase = value;
    else if (type == AT_EUID)
      vector.effectiveUser = value;
    else if (type == AT_EGID)
      vector.effectiveGroup = value;
  }
  return vector;
}

/// The capabilities that a process gets by executing a file.
static uint64_t capabilitiesOf(const std::string &link) {
  vfs_ns_cap_data data = {};
  ssize_t size = getxattr(link.c_str(), XATTR_NAME_CAPS, &data, sizeof data);
  if (size < ssize_t(XATTR_CAPS_SZ_2))
    return 0; // most have none; files of old kernels have 32 at most
  return data.data[0].permitted | uint64_t(data.data[1].permitted) << 32;
}

/// A number of /proc/PID/status. Names are escaped there, so that only a field begins a line.
static uint64_t statusField(StringRef processStatus, StringRef name, unsigned base) {
  uint64_t value = 0;
  StringRef line = processStatus.split(("\n" + name + ":").str()).second.split('\n').first;
  (void)line.trim().getAsInteger(base, value);
  return value;
}

/// Notes that a traced program does not get the rights of its file, which may change its behaviour.
static void noteLostRights(pid_t process, StringRef path, const AuxiliaryVector &vector) {
  std::string link = procPath(process, "exe");
  sys::fs::file_status file;
  struct statvfs mount;
  auto text = MemoryBuffer::getFileAsStream(procPath(process, "status"));
  if (sys::fs::status(link, file) || statvfs(link.c_str(), &mount) != 0 || !text)
    return;
  auto field = [&](StringRef name, unsigned base) {
    return statusField((*text)->getBuffer(), name, base);
  };
  if ((mount.f_flag & ST_NOSUID) || field("NoNewPrivs", 10))
    return; // nor would it get them without us
  auto has = [&](sys::fs::perms bit) { return (file.permissions() & bit) != 0; };
  if ((has(sys::fs::set_uid_on_exe) && file.getUser() != vector.effectiveUser) ||
      (has(sys::fs::set_gid_on_exe) && file.getGroup() != vector.effectiveGroup))
    noteOnce(path + ": set-user-id or set-group-id program: it runs without these rights while it "
                    "is traced; record it as that user");
  // Capabilities outside of the bounding set are never given.
  if (capabilitiesOf(link) & field("CapBnd", 16) & ~field("CapPrm", 16))
    noteOnce(path + ": program with capabilities: it runs without these rights while it is traced; "
                    "record it as root");
}

void Loading::plant(AddressSpace &space, pid_t stopped, const ProgramRef &program, uint64_t bias) {
  if (program->sites().empty())
    noteOnce(program->path + (program->doubtful() ? ": nothing says which symbols are code, not "
                                                    "recorded: build it with unwind information"
                                                  : ": no symbol table, not recorded"));
  else if (program->doubtful() > program->functionCount())
    noteOnce(program->path + ": " + Twine(program->doubtful()) +
             " of its functions are not recorded, since only their symbols say that they are code: "
             "build it with unwind information (-fasynchronous-unwind-tables)");
  else if (programs.wantsBlocks() && !program->hasBlocks())
    noteOnce(program->path + ": has no map of its basic blocks that fits its code, so only its "
                             "functions are recorded: compile it with -fbasic-block-address-map");
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
  if (program->importsPtrace() && !mayTrace(*program))
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
  auto program = programs.get(link);
  if (!program)
    return program.takeError();
  auto vector = readAuxiliaryVector(process);
  if (!vector)
    return createStringError((*program)->path + ": not recorded: " + toString(vector.takeError()));
  noteLostRights(process, (*program)->path, *vector);
  auto space =
      std::make_shared<AddressSpace>(folder, counts, *program, process, TraceRun::begin(role));
  if ((*program)->isLoader()) // the program is not mapped yet
    return space;
  plant(*space, process, *program, vector->entry - (*program)->entry);
  // The kernel has mapped the loader too.
  if (followsLibraries() && vector->interpreterBase != 0)
    if (ProgramRef loader = wantedLibrary(procPath(process, "root") + (*program)->interpreter))
      plant(*space, process, loader, vector->interpreterBase);
  return space;
}

void Loading::systemCall(pid_t thread, std::shared_ptr<AddressSpace> &space, Call &call) {
  __ptrace_syscall_info info;
  if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof info, &info) <= 0)
    return; // killed meanwhile
  if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
    bool isOfInterest =
        info.arch == arch::auditArch && (info.entry.nr == SYS_mmap || info.entry.nr == SYS_munmap);
    call.number = isOfInterest ? info.entry.nr : 0;
    llvm::copy(info.entry.args, call.arguments.begin());
    call.time = space->clock();
    return;
  }
  if (info.op == PTRACE_SYSCALL_INFO_EXIT && call.number != 0 && !info.exit.is_error) {
    if (call.number == SYS_munmap)
      space->unmap(call.arguments[0], call.arguments[0] + call.arguments[1], call.time);
    else
      mapped(space, thread, call, info.exit.rval);
  }
  call.number = 0;
}

void Loading::mapped(std::shared_ptr<AddressSpace> &space, pid_t thread, Call &call,
                     uint64_t address) {
  auto [ignored, size, protection, flags, file, offset] = call.arguments;
  // Writing into a shared mapping would write into the file.
  if (!(protection & PROT_EXEC) || (flags & MAP_ANONYMOUS) || (flags & MAP_TYPE) != MAP_PRIVATE)
    return;
  std::string link = procPath(thread, "fd/" + Twine(int(file)));
  ProgramRef library = call.isLoaders ? loadersProgram(space, thread, call, link) : nullptr;
  if (!library)
    library = wantedLibrary(link);
  if (!library)
    return;
  auto isMapped = [&](uint64_t bias) { return space->isMapped(*library, bias); };
  if (auto bias = library->loadBias(address, size, offset, isMapped))
    plant(*space, thread, library, *bias);
}

/// The program that a loader has been told to load, if this mapping is of it: the first code that
/// the loader maps, or more of the same file.
ProgramRef Loading::loadersProgram(std::shared_ptr<AddressSpace> &space, pid_t thread, Call &call,
                                   const std::string &link) {
  auto program = programs.get(link);
  if (!program) {
    noteOnce(toString(program.takeError()));
    return nullptr;
  }
  if (!space->recordedProgram().isLoader())
    return program->get() == &space->recordedProgram() ? *program : nullptr;
  space = std::make_shared<AddressSpace>(folder, counts, *program, thread,
                                         TraceRun::begin(space->role()));
  auto vector = readAuxiliaryVector(thread);
  if (ProgramRef loader =
          vector && followsLibraries() ? wantedLibrary(procPath(thread, "exe")) : nullptr)
    plant(*space, thread, loader, vector->entry - loader->entry);
  consumeError(vector.takeError());
  call.isLoaders = !(*program)->sites().empty(); // else nothing tells that it has begun
  return *program;
}

ProgramRef Loading::wantedLibrary(const std::string &link) {
  auto program = programs.get(link);
  if (!program) {
    noteOnce(toString(program.takeError()));
    return nullptr;
  }
  return wanted.loaded(**program) ? *program : nullptr;
}

void Loading::warnAboutUnseen() const {
  wanted.warnAboutUnseen("no recorded program loaded it");
  if (!until.empty() && !programs.sawUntilFunction())
    warning("--until=" + until + ": no recorded program has a function of this name");
}
