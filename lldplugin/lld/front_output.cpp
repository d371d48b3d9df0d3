//===- front_output.cpp - what happens to a linked file with a front -------===//

#include "lld/front_output.h"
#include "lld/held_output.h"
#include "plan/front_note.h"
#include "plan/front_report.h"
#include "plan/linear_segments.h"
#include "program/diagnostics.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace frontload {

bool isFileOrNull(StringRef path) {
  if (path == "-")
    return false;
  sys::fs::file_status status;
  return sys::fs::status(path, status) || status.type() == sys::fs::file_type::regular_file ||
         path == "/dev/null";
}

int finishOutput(MutableArrayRef<char> bytes, const LinkOptions &options, FrontLink &link,
                 std::optional<Front> &front) {
  StringRef contents(bytes.data(), bytes.size());
  if (!contents.starts_with(ELF::ElfMagic)) // --oformat binary
    return EXIT_SUCCESS;
  OutputFacts facts;
  facts.checksEnd = !options.definesEnd && !link.definesEnd();
  std::vector<std::string> unwanted = link.outputsBehind().all();
  facts.unwanted = unwanted;
  facts.wantedBytes = link.account().wantedBytes();
  std::vector<ExpectedPart> parts = link.account().expectedParts();
  facts.parts = parts;
  Expected<Front> checked = checkOutput(contents, facts, link.hotStrings());
  if (!checked) {
    error(options.output + ": " + toString(checked.takeError()),
          "please report this; link without --startup-profile until it is fixed");
    return exitVerdict;
  }
  front = *checked;
  link.account().finishStrings();
  if (front->isMostlyUnnamed())
    warning(options.output + ": " + Twine(front->unnamed) + " of the " + Twine(front->read()) +
            " bytes that are read with the front are in sections that neither the profile nor "
            "anything that it names leads to");
  completeSegments(bytes);
  fillNote(bytes, front->ranges, options.keepsBuildId);
  return EXIT_SUCCESS;
}

/// The file at `path`, to be written.
static ErrorOr<std::unique_ptr<WriteThroughMemoryBuffer>> openToWrite(const std::string &path) {
  auto output = WriteThroughMemoryBuffer::getFile(path);
  if (output.getError() == std::errc::permission_denied) {
    // A umask may take the right to write from the linker's own output.
    auto before = sys::fs::getPermissions(path);
    if (before && !sys::fs::setPermissions(path, *before | sys::fs::owner_write)) {
      output = WriteThroughMemoryBuffer::getFile(path);
      sys::fs::setPermissions(path, *before);
    }
  }
  return output;
}

int finishOutputFile(const std::string &path, const LinkOptions &options, FrontLink &link,
                     std::optional<Front> &front) {
  if (!sys::fs::is_regular_file(path)) // /dev/null
    return EXIT_SUCCESS;
  auto output = openToWrite(path);
  if (!output) {
    error(options.output + ": " + output.getError().message(),
          "the note of its front cannot be written");
    return exitUsage;
  }
  return finishOutput((*output)->getBuffer(), options, link, front);
}

int publish() {
  if (Error e = stagedFiles().publish()) {
    error(toString(std::move(e)), "nothing can be put there; link to another place");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

int stageReport(const LinkOptions &options, const FrontLink &link, std::optional<Front> front,
                ArrayRef<EstimatedStart> starts) {
  if (options.report.empty())
    return EXIT_SUCCESS;
  if (Error e = writeFrontReport(stagedFiles().stage(options.report), options.output, link, front,
                                 starts)) {
    error(options.report + ": " + toString(std::move(e)), "write the report to another place");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

int publishLink(const LinkOptions &options, const FrontLink &link, std::optional<Front> front,
                ArrayRef<EstimatedStart> starts) {
  int code = stageReport(options, link, front, starts);
  return code ? code : publish();
}

} // namespace frontload
