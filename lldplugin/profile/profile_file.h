//===- profile_file.h - the file that a startup profile is read from -------===//
//
// Linkers take a profile by its path. All of them report its errors in the same words, before they
// link.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_PROFILE_FILE_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_PROFILE_FILE_H

#include "profile/startup_profile.h"
#include "program/diagnostics.h"
#include <optional>
#include <string>

namespace frontload {

/// Reads the profile at `path`. Its text stays in memory for as long as the process lives.
std::optional<Refusal> readProfile(const std::string &path, StartupProfile &profile);

} // namespace frontload

#endif
