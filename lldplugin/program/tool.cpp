// What programs with files on their command line share.
#include "program/tool.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

/// Reports what LLVM said about the command line, in our form, and ends the program. LLVM's form is
/// the program's name, the problem, advice, and perhaps what could have been meant.
[[noreturn]] static void failAsSaid(StringRef said) {
  StringRef line = said.split('\n').first.split("  Try: ").first;
  if (line.consume_front(programName))
    line.consume_front(": ");
  // LLVM always names the nearest option, however far it is.
  StringRef meant = said.split("Did you mean '").second.split("'?").first;
  StringRef given = line.split('\'').second.split('\'').first;
  bool isNear = !meant.empty() && meant.edit_distance(given) <= 2;
  std::string note = ("try: " + programName + " --help").str();
  fail(exitUsage, line.rtrim("."), isNear ? ("did you mean " + meant + "? " + note).str() : note);
}

void parseOptions(int argc, char **argv, cl::OptionCategory &category, StringRef overview) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << programName << " " FRONTLOAD_VERSION "\n"; });
  std::string messages;
  raw_string_ostream messageStream(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &messageStream, nullptr, nullptr,
                                   /*LongOptionsUseDoubleDash=*/true))
    failAsSaid(messages);
}

std::unique_ptr<MemoryBuffer> readInput(const Twine &path, const Twine &note) {
  auto buffer = MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  if (!buffer)
    fail(exitUsage, path + ": " + buffer.getError().message(), note);
  return std::move(*buffer);
}

void flushOutput() {
  outs().flush();
  if (outs().has_error())
    fail(exitUsage, "cannot write: " + outs().error().message(), "make room for it");
}

} // namespace frontload
