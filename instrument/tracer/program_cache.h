// Every file is parsed once, however many processes execute or load it.
#ifndef FRONTLOAD_TRACER_PROGRAM_CACHE_H
#define FRONTLOAD_TRACER_PROGRAM_CACHE_H

#include "address_space.h"

#include "llvm/Support/FileSystem.h"

#include <map>
#include <tuple>

namespace frontload {

class ProgramCache {
public:
  ProgramCache(std::string untilFunction, bool blocksWanted)
      : until(std::move(untilFunction)), blocksToo(blocksWanted) {}

  /// The program in the file that `link` leads to. The links of /proc also lead to files that were
  /// deleted or belong to another mount namespace. An error begins with the path of the file.
  llvm::Expected<ProgramRef> get(const std::string &link);

  /// Whether a program with the function of --until was seen.
  bool sawUntilFunction() const { return untilSeen; }
  bool wantsBlocks() const { return blocksToo; }

private:
  using Key = std::tuple<llvm::sys::fs::UniqueID, llvm::sys::TimePoint<>, uint64_t>;

  std::string until;
  bool blocksToo;
  std::map<Key, ProgramRef> programs;
  bool untilSeen = false;
};

} // namespace frontload

#endif
