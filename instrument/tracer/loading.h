// Follows which code gets into a process: the program at an exec, and the libraries named by
// --module at the system call that maps them, which is before any of their code can run (the
// loader's own notice to debuggers comes after the first IFUNC resolvers), whatever loader it is.
// The price is two stops at every system call, so it is only done where --module asks for it.
#ifndef FRONTLOAD_TRACER_LOADING_H
#define FRONTLOAD_TRACER_LOADING_H

#include "program_cache.h"
#include "recorder/wanted_modules.h"

#include <array>

namespace frontload {

class Loading {
public:
  /// `modules`: file names, sonames or paths of libraries that are recorded too.
  Loading(TraceFolder &traces, std::vector<std::string> modules, std::string untilFunction);

  /// The program that `process` is about to begin, with its breakpoints planted. Nothing if it
  /// cannot be recorded.
  std::shared_ptr<AddressSpace> execute(pid_t process);

  bool followsLibraries() const { return !wanted.isEmpty(); }

  /// A system call that may map or unmap code, between its entry and its exit.
  struct Call {
    uint64_t number = 0; // 0: of no interest
    std::array<uint64_t, 6> arguments;
    uint64_t time; // of the address space, at the entry
  };
  /// A thread has stopped at the entry or exit of a system call. `call` is kept in between.
  void systemCall(pid_t thread, AddressSpace &space, Call &call);

  /// Says what was asked for and never seen.
  void warnAboutUnseen() const;

  Counts counts;

private:
  void plant(AddressSpace &space, const ProgramRef &program, uint64_t bias);
  void mapped(AddressSpace &space, pid_t thread, const Call &call, uint64_t address);
  ProgramRef wantedLibrary(const std::string &link);

  TraceFolder &folder;
  WantedModules wanted;
  std::string until;
  ProgramCache programs;
};

} // namespace frontload

#endif
