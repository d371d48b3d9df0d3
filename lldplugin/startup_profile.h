//===- startup_profile.h - reads a startup profile -------------------------===//
//
// A startup profile is the durable, name-based record of what a program touches while it starts.
// The format is declared in scripts/frontload/profile.py; this is the reader for linkers.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_PROFILE_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_PROFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <string>
#include <vector>

namespace frontload {

/// The section classes that a front is made of, in the order in which they lie in the file.
enum class SectionClass : uint8_t { Rodata, Text, Relro, Data, Bss };
constexpr unsigned numSectionClasses = 5;

/// The name of a class as it stands in profiles and reports: "rodata", "text", ...
llvm::StringRef toString(SectionClass c);

struct ProfileEntry {
  std::string name;
  /// For a local symbol: the source file (STT_FILE) it was found under, else empty. A hint that
  /// tells same-named local symbols apart.
  std::string file;
  SectionClass sectionClass = SectionClass::Text;
};

struct StartupProfile {
  /// In first-touch order.
  std::vector<ProfileEntry> entries;
};

/// Parses the text of a profile. `path` is for messages; errors say `path:line: what is wrong`.
llvm::Expected<StartupProfile> parseStartupProfile(llvm::StringRef path, llvm::StringRef text);

} // namespace frontload

#endif
