//===- linker_texts.h - what another lld writes besides its output ---------===//
//
// A map, a list of dependencies, what it says: all of it tells of marked names, of our script and
// note, and of the output under its name for the time being. So it goes through our hands, as if
// the linker had linked the files as they are.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_OTHER_LLD_LINKER_TEXTS_H
#define FRONTLOAD_LLDPLUGIN_OTHER_LLD_LINKER_TEXTS_H

#include "other_lld/other_lld.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace frontload {

/// What the linker sees in place of what it was given.
struct StandIns {
  std::string script, note; ///< paths of ours
  std::string suffix;       ///< what the output has behind its name while it is written
  std::string profile;      ///< the path of what the script is made of

  /// Text of the linker as if it had linked the files as they are.
  std::string restored(std::string text) const;
};

class LinkerTexts {
public:
  explicit LinkerTexts(const OtherLink &link);
  ~LinkerTexts();
  LinkerTexts(const LinkerTexts &) = delete;

  /// Makes a temporary file for each text that is wanted.
  llvm::Error makeFiles();
  /// The options that have the linker write them there.
  std::vector<std::string> options() const;
  /// Writes what the linker has written as it is wanted, to `files` where it is to be a file.
  llvm::Error restore(const StandIns &standIns, StagedFiles &files) const;
  /// The map, which there is if OtherLink::needsMap says so and it is not printed.
  llvm::Expected<std::string> map(const StandIns &standIns) const {
    return read(mapFile, standIns);
  }

private:
  /// A text by a temporary file.
  struct TextFile {
    std::string option;    ///< that has the name, up to that
    std::string path;      ///< where it is wanted; empty if only we want it
    std::string temporary; ///< where the linker writes it; empty if it writes none
  };

  std::array<const TextFile *, 4> all() const {
    return {&mapFile, &dependencies, &removed, &trace};
  }
  llvm::Expected<std::string> read(const TextFile &file, const StandIns &standIns) const;

  const OtherLink &other;
  TextFile mapFile, dependencies, removed, trace;
};

} // namespace frontload

#endif
