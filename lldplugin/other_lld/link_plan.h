//===- link_plan.h - what another lld is to see of its inputs --------------===//
//
// The plan of a front, for an lld that asks nothing: which names of sections get which mark, by the
// file that they are in and the offset there, and the hashes of the strings of startup. The plan
// lies in memory that the library preloaded into that lld shares (interposer/plan_format.h).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "other_lld/memory_file.h"
#include "other_lld/placed_sections.h"
#include "plan/front_link.h"
#include "llvm/Support/Error.h"
#include <ctime>
#include <functional>
#include <string>
#include <vector>

namespace frontload {

/// A file, and the state in which it was looked at.
struct FileIdentity {
  auto operator<=>(const FileIdentity &) const = default;

  uint64_t device = 0, inode = 0, size = 0;
  int64_t seconds = 0, nanoseconds = 0; ///< when it was last modified
};

/// All zeros if there is no such file.
FileIdentity identityOf(const std::string &path);

/// The files and objects of a linker that has gone through its command line.
struct LinkInputs {
  struct File {
    llvm::MemoryBufferRef buffer; ///< all of it; its identifier is the path
    FileIdentity identity;
  };
  std::vector<File> files;
  std::vector<InputObject> objects;          ///< in the order in which FrontLink has got them
  std::optional<llvm::MemoryBufferRef> like; ///< an object of the kind that is linked
};

/// How a linker hashes strings.
using StringHash = uint64_t (*)(llvm::StringRef);

class LinkPlan {
public:
  /// Plans for `link`, and tells it which sections have to keep their place. `hash` is null for a
  /// linker whose order of strings cannot be changed.
  static llvm::Expected<LinkPlan> make(const LinkInputs &inputs, FrontLink &link, StringHash hash);

  /// The path of the plan, for this process and others, as long as this object lives.
  std::string path() const { return memory.path(); }

  /// A file whose marks the linker did not see, and why; empty if it saw all marks.
  std::string unserved() const;

  /// Tells `link` which strings of startup the linker has met.
  void tellStrings(FrontLink &link) const;

  /// All planned sections. Not all of them are in the link.
  llvm::ArrayRef<KnownSection> sections() const { return known; }

private:
  MemoryFile memory;
  StringHash hash = nullptr;
  std::vector<uint64_t> slots;
  std::vector<std::string> paths; ///< of the files in the plan
  std::vector<KnownSection> known;
};

} // namespace frontload
