//===- option_parser.cpp - options that LLVM parses for us -----------------===//

#include "program/option_parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace frontload {

/// What LLVM said about the command line, in our words.
static Refusal refusalOf(StringRef said) {
  StringRef line = said.split('\n').first.split("  Try: ").first;
  if (line.consume_front(programName))
    line.consume_front(": ");
  // LLVM always names the nearest option, however far it is.
  StringRef meant = said.split("Did you mean '").second.split("'?").first;
  StringRef given = line.split('\'').second.split('\'').first;
  bool isNear = !meant.empty() && meant.edit_distance(given) <= 2;
  std::string note = ("try: " + programName + " --help").str();
  return {line.rtrim(".").str(), isNear ? ("did you mean " + meant + "? " + note).str() : note,
          exitUsage};
}

std::optional<Refusal> parseProgramOptions(int argc, char **argv, cl::OptionCategory &category,
                                           StringRef overview) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << programName << " " FRONTLOAD_VERSION "\n"; });
  std::string messages;
  raw_string_ostream messageStream(messages);
  if (cl::ParseCommandLineOptions(argc, argv, overview, &messageStream, nullptr, nullptr,
                                  /*LongOptionsUseDoubleDash=*/true))
    return std::nullopt;
  return refusalOf(messages);
}

} // namespace frontload
