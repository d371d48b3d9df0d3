//===- reproduce.cpp - the front in the tar of --reproduce -----------------===//

#include "lld/reproduce.h"
#include "lld/Common/Reproduce.h"
#include "lld/lld_symbols.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>

using namespace llvm;

namespace frontload {

/// lld ignores this option of other linkers, and writes it in a line of its own.
static constexpr char mark[] = "--plugin=<frontload>";
static constexpr StringLiteral markLine = "\n--plugin <frontload>\n";

static constexpr StringLiteral responseFile = "response.txt";

/// Our options, a line each; empty if there is nothing to prepare.
static std::string ownLines;
static bool isComplete;

/// The shortest text that means the same number, in any locale.
static std::string textOf(double number) {
  char text[32];
  return {text, std::to_chars(text, std::end(text), number).ptr};
}

std::optional<Refusal> prepareReplay(const LinkOptions &options, std::vector<const char *> &args) {
  if (!sys::fs::is_regular_file(options.profile))
    return Refusal{options.profile + ": --reproduce can only keep a profile that is a file",
                   "copy it to a file", exitUsage};
  raw_string_ostream os(ownLines);
  os << "--startup-profile " << lld::quote(lld::relativeToRoot(options.profile)) << '\n'
     << "--min-match=" << textOf(options.minMatch) << '\n';
  if (options.choice == LinkOptions::FrontChoice::Always)
    os << "--front-always\n";
  if (options.traits.frontAlign)
    os << "--front-align=" << options.traits.frontAlign << '\n';
  if (!options.report.empty()) // in the current folder, as lld writes its own files there
    os << "--front-report " << lld::quote(sys::path::filename(options.report)) << '\n';
  args.push_back(mark);
  return std::nullopt;
}

bool isReplayComplete() { return ownLines.empty() || isComplete; }

/// lld's text for the replay, with our options in place of the arguments that they make us add.
static std::string responseOf(StringRef text) {
  // The replay cannot always find out what the libc of the link can do. If relocations are packed,
  // a later option says so, and the last one counts.
  std::string result = "-z nopack-relative-relocs\n";
  size_t end = text.rfind(markLine);
  isComplete = end != StringRef::npos;
  return result + text.take_front(isComplete ? end + 1 : end).str() + ownLines;
}

} // namespace frontload

void wrapTarAppend(TarWriter *tar, StringRef path, StringRef data) {
  if (frontload::ownLines.empty() || path != frontload::responseFile)
    return realTarAppend(tar, path, data);
  realTarAppend(tar, path, frontload::responseOf(data));
}
