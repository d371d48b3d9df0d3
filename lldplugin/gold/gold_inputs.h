// The contents of the linker's input files.
//
// gold describes an input to a plugin by a file descriptor and a range in that file. It may close
// its files at any time, so this maps their contents, each file once: most objects are members of
// archives. The names of members are only in the archive.
#pragma once

#include "startup_set/input_object.h"
#include "llvm/Support/FileSystem.h"
#include <map>
#include <optional>
#include <plugin-api.h>
#include <string>

namespace frontload {

class GoldInputs {
public:
  /// The object in `file`, if it is a readable relocatable ELF object. It lives as long as this.
  std::optional<InputObject> open(const ld_plugin_input_file &file);

  static bool isElf(const ld_plugin_input_file &file);

private:
  struct Mapped {
    std::string path;
    llvm::sys::fs::mapped_file_region region;
    /// The names of the members of an archive, by where their contents begin.
    std::map<uint64_t, std::string> members;
  };
  Mapped *map(const ld_plugin_input_file &file);

  std::map<llvm::sys::fs::UniqueID, Mapped> files;
};

} // namespace frontload
