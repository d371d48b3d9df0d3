// The file that a startup profile is read from.
//
// Linkers take a profile by its path. All of them report its errors in the same words, before they
// link.
//
// Build systems pass the same flags to every link. So one flag may name a folder of profiles, in
// which each profile is named after its output: app.startup, libfoo.so.startup.
#pragma once

#include "profile/startup_profile.h"
#include "program/diagnostics.h"
#include <optional>
#include <string>
#include <vector>

namespace frontload {

/// Reads the profile at `path`. Its text stays in memory for as long as the process lives.
std::optional<Refusal> readProfile(const std::string &path, StartupProfile &profile);

/// The names that the profile of `output` may have; the first that exists counts. They have no
/// version after .so, and no marks of build systems that rename files after the link: Cargo's hash,
/// libtool's T.
std::vector<std::string> profileNames(llvm::StringRef output);

/// Sets `profile` to the path of the profile of `output` in `folder`, or to "" if there is no
/// profile or folder.
std::optional<Refusal> findProfile(llvm::StringRef folder, llvm::StringRef output,
                                   std::string &profile);

} // namespace frontload
