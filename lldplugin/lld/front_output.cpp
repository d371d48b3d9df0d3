//===- front_output.cpp - what happens to a linked file with a front -------===//

#include "lld/front_output.h"
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

/// Lets `edit` change the file at `path`, which is an output of this link, in place.
static std::error_code editFile(StringRef path, function_ref<void(MutableArrayRef<char>)> edit) {
  auto output = WriteThroughMemoryBuffer::getFile(path);
  if (output.getError() == std::errc::permission_denied) {
    // A umask that takes away the right to write takes it from the linker's own output.
    auto before = sys::fs::getPermissions(path);
    if (before && !sys::fs::setPermissions(path, *before | sys::fs::owner_write)) {
      output = WriteThroughMemoryBuffer::getFile(path);
      sys::fs::setPermissions(path, *before);
    }
  }
  if (output)
    edit((*output)->getBuffer());
  return output.getError();
}

int finishOutput(const std::string &path, const LinkOptions &options, FrontLink &link,
                 std::optional<Front> &front) {
  auto output = sys::fs::is_regular_file(path)
                    ? MemoryBuffer::getFile(path, false, false)
                    : make_error_code(std::errc::no_such_file_or_directory);
  // It is not one with -o /dev/null and --oformat binary.
  if (!output || !(*output)->getBuffer().starts_with(ELF::ElfMagic))
    return EXIT_SUCCESS;
  OutputFacts facts;
  facts.checksEnd = !options.definesEnd && !link.definesEnd();
  std::vector<std::string> unwanted = link.outputsBehind().all();
  facts.unwanted = unwanted;
  facts.touchedRelro = link.touchedRelro();
  Expected<Front> checked = checkOutput((*output)->getBuffer(), facts, link.hotStrings());
  if (!checked) {
    error(options.output + ": " + toString(checked.takeError()),
          "please report this; link without --startup-profile until it is fixed");
    sys::fs::remove(path);
    return exitVerdict;
  }
  front = *checked;
  link.finishStrings();
  std::error_code problem = editFile(path, [&](MutableArrayRef<char> bytes) {
    completeSegments(bytes);
    fillNote(bytes, front->ranges);
  });
  if (problem) {
    error(options.output + ": " + problem.message(), "the note of its front cannot be written");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

int reportFront(const LinkOptions &options, const FrontLink &link, std::optional<Front> front) {
  if (options.report.empty())
    return EXIT_SUCCESS;
  if (Error e = writeFrontReport(options.report, options.output, link, front)) {
    error(options.report + ": " + toString(std::move(e)), "the program itself is linked");
    return exitUsage;
  }
  return EXIT_SUCCESS;
}

} // namespace frontload
