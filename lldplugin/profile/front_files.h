//===- front_files.h - the files that a link with a front is told of -------===//
//
// The linkers that lay out a front are told a profile to read and a report to write. Both are
// looked at before any work, and refused in the same words.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PROFILE_FRONT_FILES_H
#define FRONTLOAD_LLDPLUGIN_PROFILE_FRONT_FILES_H

#include "profile/startup_profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace frontload {

/// Why a file cannot be used, and what to do.
struct Refusal {
  std::string message, note;
  int exitCode;
};

/// Reads the profile at `path`, which then refers to its text for as long as the process lives.
std::optional<Refusal> readProfile(const std::string &path, StartupProfile &profile);

/// Whether the report can be written, as far as can be known before the link, and is not one of the
/// `others` of it. An empty path is no report.
std::optional<Refusal> checkReportPath(llvm::StringRef report,
                                       llvm::ArrayRef<llvm::StringRef> others);

} // namespace frontload

#endif
