//===- profile_folder.h - which profile of a folder is an output's ---------===//
//
// Build systems pass the same flags to every link. So one flag names a folder of profiles, in which
// each profile is named after its output: app.startup, libfoo.so.startup.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_PROFILE_FOLDER_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_PROFILE_FOLDER_H

#include "program/diagnostics.h"

namespace frontload {

/// The names that the profile of `output` may have, the first that exists counts. A version after
/// .so is no part of them, nor is what build systems put into the name of a file that they rename
/// when it is linked: Cargo's hash, libtool's T.
std::vector<std::string> profileNames(llvm::StringRef output);

/// Sets `profile` to the path of the one for `output` in `folder`, or to nothing if there is none
/// or no such folder.
std::optional<Refusal> findProfile(llvm::StringRef folder, llvm::StringRef output,
                                   std::string &profile);

} // namespace frontload

#endif
