//===- own_command_line.h - gold's own command line ------------------------===//
//
// gold tells a plugin the plugin's options, but not its own. Two of its own matter: if another
// order is asked for, gold forgets the plugin's, and it cannot both give sections a segment of
// their own and write relocations into its output (it ends with an internal error, as with
// --gc-sections).
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_GOLD_OWN_COMMAND_LINE_H
#define FRONTLOAD_LLDPLUGIN_GOLD_OWN_COMMAND_LINE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace frontload {

struct GoldCommandLine {
  /// An option that orders sections itself.
  std::string ordering;
  bool emitsRelocations = false;
  bool foldsCode = false; ///< --icf
};

/// Reads `arguments`, each of which ends in a zero byte.
GoldCommandLine parseGoldCommandLine(llvm::StringRef arguments);

/// The command line of this process; empty if the system does not show it.
GoldCommandLine ownCommandLine();

} // namespace frontload

#endif
