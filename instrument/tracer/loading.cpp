// Looks at processes at their execs and mappings, through /proc and ptrace.
#include "loading.h"

#include "recorder/diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

using namespace llvm;
using namespace frontload;

Loading::Loading(TraceFolder &traces, std::vector<std::string> modules, std::string untilFunction)
    : folder(traces), wanted(std::move(modules)), until(untilFunction), programs(untilFunction) {}

static std::string procPath(pid_t thread, const Twine &file) {
  return ("/proc/" + Twine(thread) + "/" + file).str();
}

namespace {
/// What the kernel tells a program about how it was started.
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

/// A traced program is not given the rights of its owner, which may change what it does.
static void noteLostPrivileges(const std::string &link, StringRef path,
                               const AuxiliaryVector &vector) {
  sys::fs::file_status status;
  if (sys::fs::status(link, status))
    return;
  auto has = [&](sys::fs::perms bit) { return (status.permissions() & bit) != 0; };
  if ((has(sys::fs::set_uid_on_exe) && status.getUser() != vector.effectiveUser) ||
      (has(sys::fs::set_gid_on_exe) && status.getGroup() != vector.effectiveGroup))
    noteOnce(path + ": set-user-id or set-group-id program: it runs without these rights while it "
                    "is traced; record it as that user");
}

void Loading::plant(AddressSpace &space, const ProgramRef &program, uint64_t bias) {
  if (program->sites().empty())
    noteOnce(program->path + ": no symbol table, not recorded");
  if (Error error = space.map(program, bias))
    noteOnce(toString(std::move(error)));
}

std::shared_ptr<AddressSpace> Loading::execute(pid_t process) {
  std::string link = procPath(process, "exe");
  auto program = programs.get(link);
  if (!program) {
    noteOnce(toString(program.takeError()));
    return nullptr;
  }
  auto vector = readAuxiliaryVector(process);
  if (!vector) {
    noteOnce((*program)->path + ": not recorded: " + toString(vector.takeError()));
    return nullptr;
  }
  noteLostPrivileges(link, (*program)->path, *vector);
  auto space = std::make_shared<AddressSpace>(folder, counts, *program, process);
  plant(*space, *program, vector->entry - (*program)->entry);
  // The kernel has mapped the loader too.
  if (followsLibraries() && vector->interpreterBase != 0)
    if (ProgramRef loader = wantedLibrary(procPath(process, "root") + (*program)->interpreter))
      plant(*space, loader, vector->interpreterBase);
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
  ProgramRef library = wantedLibrary(procPath(thread, "fd/" + Twine(int(file))));
  if (!library)
    return;
  auto isMapped = [&](uint64_t bias) { return space.isMapped(*library, bias); };
  if (auto bias = library->loadBias(address, size, offset, isMapped))
    plant(space, library, *bias);
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
