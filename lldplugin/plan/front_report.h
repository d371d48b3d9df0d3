// What was placed in a front, as JSON.
//
// The report of --front-report=FILE, for people and for scripts that guard a build. Schema
// "frontload-front-report/1":
//
//   schema    "frontload-front-report/1"
//   output    path of the linked file
//   profile   path of the startup profile
//   front     {"bytes": the length of the front in the file, "strings": how many of these bytes are
//             strings that were merged with those of all objects, "read": how many bytes a prefetch
//             reads, "tail": how many more it reads behind these, "unnamed": how many of the
//             front's neither the profile nor anything that it names led to, "linear": whether
//             address and offset differ by one number in the whole file, "padding": [{"before":
//             section, "bytes"}] where alignment leaves room in the file that is not worth
//             reading}; null if the output is not an ELF file, if gold linked it (gold makes a
//             block of each output section instead), or if the link stepped aside ("starts" say
//             why)
//   starts    the cold starts by which it was judged whether the front stays: [{"share": the start
//             touches nothing that less than this share of the runs does; "front", "plain":
//             {"bytes", "major_faults"} that it reads with the front, in one go if the program was
//             linked with --front-prefetch, and without a front}]; empty with gold, and if the file
//             is so small that it is read at once, or so large that the front is clearly better
//   objects   how many input objects contributed to the front
//   classes   per section class ("text", "rodata", "relro", "data", "bss"): {"sections": placed in
//             the front, "referred": those of them that the profile does not name but something in
//             the front refers to, "bytes": their size without padding}
//   names     {"total": in the profile, "placed": of them in the front, "unmovable": those in
//             sections that keep their place (.init, COMMON), "left_out": [names of those that
//             cost less to fault in than to read with the front, and so follow it],
//             "missing": [{"name": ..., "reason": "not defined" | "not in the link" |
//             "only in a build with hooks"}],
//             "inexact": [of those that have another name in this link: {"name": ..., "how": in
//             what the two are alike (docs/names.md), "ambiguous": whether there are several,
//             "found": [their names here]}]}; names have the escapes of a startup profile, so that
//             no two of them look the same
#pragma once

#include "plan/front_estimate.h"
#include "plan/front_link.h"
#include "plan/output_check.h"
#include "program/diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <optional>

namespace frontload {

/// Says why the report cannot be written, as far as that is known before the link, or that it would
/// overwrite one of the link's `others`. An empty path means no report.
std::optional<Refusal> checkReportPath(llvm::StringRef report,
                                       llvm::ArrayRef<llvm::StringRef> others);

/// Writes the report to `path`: a file is written whole or not at all, anything else in place.
llvm::Error writeFrontReport(llvm::StringRef path, llvm::StringRef output, const FrontLink &link,
                             std::optional<Front> front, llvm::ArrayRef<EstimatedStart> starts);

} // namespace frontload
