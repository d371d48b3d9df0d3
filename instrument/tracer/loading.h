// Follows the code that gets into a process: the program at an exec, and the libraries of --module
// at the system call that maps them, before any of their code can run, with any loader. (The
// loader's own notice to debuggers comes after the first IFUNC resolvers.) The price is two stops
// at every system call, so libraries are followed only with --module.
#pragma once

#include "address_space.h"

#include "llvm/Support/FileSystem.h"

#include <array>
#include <map>
#include <tuple>

namespace frontload {

class Loading {
public:
  /// `modules`: file names, sonames or paths of libraries that are recorded too. `onlyProgram`: the
  /// file name or path of the program that is recorded; empty: each.
  Loading(TraceFolder &traces, llvm::ArrayRef<std::string> modules, std::string onlyProgram,
          std::string untilFunction, bool blocksWanted);

  /// The program that `process` is about to begin, with its breakpoints planted. Null if it cannot
  /// be recorded, or is another than --program. Its role is the one in its environment, or
  /// `formerRole`.
  std::shared_ptr<AddressSpace> execute(pid_t process, const std::string &formerRole);

  bool followsLibraries() const { return !wanted.empty(); }

  /// A system call that may map or unmap code, between its entry and its exit.
  struct Call {
    uint64_t number = 0; // 0: of no interest
    std::array<uint64_t, 6> arguments;
    uint64_t time; // clock() of the address space, at the entry
  };
  /// A thread has stopped at the entry or exit of a system call. `call` is kept in between.
  void systemCall(pid_t thread, AddressSpace &space, Call &call);

  /// Warns of names in --module, --program and --until that were never seen.
  void warnAboutUnseen() const;

private:
  /// The program in the file that `link` leads to. Every file is parsed once, however many
  /// processes execute or load it. The links of /proc also lead to files that were deleted or
  /// belong to another mount namespace. An error begins with the path of the file.
  llvm::Expected<ProgramRef> programAt(const std::string &link);
  llvm::Expected<std::shared_ptr<AddressSpace>> begin(pid_t process, const std::string &role);
  void plant(AddressSpace &space, pid_t stopped, const ProgramRef &program, uint64_t bias);
  void mapped(AddressSpace &space, pid_t thread, const Call &call, uint64_t address);
  ProgramRef wantedLibrary(const std::string &link);

  TraceFolder &folder;
  struct WantedModule {
    std::string name; // as --module gives it
    bool wasSeen = false;
  };
  std::vector<WantedModule> wanted;
  std::optional<WantedModule> only; // --program
  std::string until;
  bool wantsBlocks;
  bool untilSeen = false; // a program with the function of --until

  using FileKey = std::tuple<llvm::sys::fs::UniqueID, llvm::sys::TimePoint<>, uint64_t>;
  std::map<FileKey, ProgramRef> programs;
};

} // namespace frontload
