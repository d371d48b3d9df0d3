//===- profile_folder.h - finds an output's profile in a folder ------------===//
//
// Build systems pass the same flags to every link. So one flag names a folder of profiles, in which
// each profile is named after its output: app.startup, libfoo.so.startup.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_PROFILE_FOLDER_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_PROFILE_FOLDER_H

#include "program/diagnostics.h"

namespace frontload {

/// The names that the profile of `output` may have; the first that exists counts. They have no
/// version after .so, and no marks of build systems that rename files after the link: Cargo's hash,
/// libtool's T.
std::vector<std::string> profileNames(llvm::StringRef output);

/// Sets `profile` to the path of the profile of `output` in `folder`, or to "" if there is no
/// profile or folder.
std::optional<Refusal> findProfile(llvm::StringRef folder, llvm::StringRef output,
                                   std::string &profile);

} // namespace frontload

#endif
