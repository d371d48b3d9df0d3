//===- linker_texts.h - what another lld writes besides its output ---------===//
//
// Maps, lists of dependencies and messages contain marked names, our script and note, and the
// temporary name of the output. This rewrites them as if the linker had linked the real files.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "other_lld/other_lld.h"
#include "llvm/Support/Error.h"
#include <array>
#include <string>
#include <vector>

namespace frontload {

/// The names that the linker sees in place of the real ones.
struct StandIns {
  std::string script, note; ///< paths of our inputs
  std::string suffix;       ///< of the output's temporary name
  std::string profile;      ///< the path of the profile that the script is made of

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
  /// The options by which the linker writes the texts to these files.
  std::vector<std::string> options() const;
  /// Writes the linker's texts, restored, to the wanted places: files by `files`.
  llvm::Error restore(const StandIns &standIns, StagedFiles &files) const;
  /// The map; there is one if OtherLink::needsMap and it is not printed.
  llvm::Expected<std::string> map(const StandIns &standIns) const {
    return read(mapFile, standIns);
  }

private:
  /// A text that goes through a temporary file.
  struct TextFile {
    std::string option;    ///< up to the name of the file
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
