// The options that all recorders have, and the messages about wrong ones.
#include "command_line.h"

#include "diagnostics.h"
#include "format/frontload_role.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace frontload;

cl::OptionCategory &frontload::recorderOptions() {
  static cl::OptionCategory category("Options");
  return category;
}

static cl::opt<std::string> outputOption("output", cl::init("%m.%p.fltrace"),
                                         cl::cat(recorderOptions()), cl::value_desc("pattern"),
                                         cl::desc("Where traces go: %m is the program's file name, "
                                                  "%p its process id (default %m.%p.fltrace)"));
static cl::alias outputAlias("o", cl::aliasopt(outputOption), cl::cat(recorderOptions()),
                             cl::NotHidden, cl::value_desc("pattern"),
                             cl::desc("Short for --output"));
cl::list<std::string> frontload::moduleOption(
    "module", cl::cat(recorderOptions()), cl::value_desc("name"),
    cl::desc("Also record the shared library with this file name, soname or path (repeatable)"));
cl::opt<std::string>
    frontload::untilOption("until", cl::cat(recorderOptions()), cl::value_desc("symbol"),
                           cl::desc("End the recording when this function is entered"));
cl::opt<double> frontload::forOption("for", cl::cat(recorderOptions()), cl::value_desc("seconds"),
                                     cl::desc("End the recording after this time"));
static cl::opt<std::string>
    roleOption("role", cl::cat(recorderOptions()), cl::value_desc("name"),
               cl::desc("What the traces call the process, and those that it starts with no other "
                        "FRONTLOAD_ROLE in their environment"));
static cl::list<std::string> strayArguments(cl::Positional, cl::Hidden, cl::cat(recorderOptions()));

static std::nullopt_t usageError(const Twine &message) {
  error(message);
  note("try: " + Twine(toolName) + " --help");
  return std::nullopt;
}

/// LLVM's messages begin with the name of the program, and have advice of their own after the
/// first.
static void usageErrorOf(StringRef llvmMessage) {
  StringRef line = llvmMessage.split('\n').first.split("  Try: ").first;
  // Otherwise the message is about an option's value, and was printed.
  if (!line.consume_front(toolName) || !line.consume_front(": "))
    return;
  error(line.rtrim("."));
  // LLVM suggests the nearest option, however far that is.
  StringRef meant = llvmMessage.split("Did you mean '").second.split("'?").first;
  bool isNear =
      !meant.empty() && meant.edit_distance(line.split('\'').second.split('\'').first) <= 2;
  note((isNear ? "did you mean " + meant + "? " : "") + "try: " + toolName + " --help");
}

/// The index of "--" in argv. LLVM must not see the words behind it: it would put files in place of
/// "@file".
static int findSeparator(int argc, char **argv) {
  int i = 1;
  while (i < argc && StringRef(argv[i]) != "--")
    ++i;
  return i;
}

std::optional<CommandLine> frontload::parseCommandLine(int argc, char **argv, StringRef overview) {
  int separator = findSeparator(argc, argv);
  cl::HideUnrelatedOptions(recorderOptions());
  cl::SetVersionPrinter([](raw_ostream &os) { os << toolName << " " FRONTLOAD_VERSION "\n"; });
  std::string messages;
  raw_string_ostream messageStream(messages);
  if (!cl::ParseCommandLineOptions(separator, argv, overview, &messageStream, nullptr, nullptr,
                                   /*LongOptionsUseDoubleDash=*/true)) {
    usageErrorOf(messages);
    return std::nullopt;
  }
  if (!strayArguments.empty())
    return usageError("'" + strayArguments.front() + "': is not an option; the command follows --");
  if (separator + 1 >= argc)
    return usageError("no command was given");
  if (forOption.getNumOccurrences() && !(forOption > 0 && forOption < 1e6))
    return usageError("--for: not a number of seconds above 0");
  auto pattern = OutputPattern::parse(outputOption);
  if (!pattern)
    return usageError(toString(pattern.takeError()));
  char role[FRONTLOAD_ROLE_SIZE] = {};
  if (roleOption.getNumOccurrences() && !frontload_copy_role(role, roleOption.c_str()))
    return usageError("--role: " FRONTLOAD_NO_ROLE);
  return CommandLine{argv + separator + 1, std::move(*pattern), role};
}
