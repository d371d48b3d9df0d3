//===- main.cpp - frontload-resolve: finds names in a link -----------------===//
//
// Only names/ decides what a profile's names stand for. Through this program, the scripts use it
// for links that need order files, and for linked programs. resolved_lines.h describes its output.
//
//===----------------------------------------------------------------------===//

#include "profile/startup_profile.h"
#include "profile/tiers.h"
#include "program/diagnostics.h"
#include "program/option_parser.h"
#include "resolve/input_files.h"
#include "resolve/listed_symbols.h"
#include "resolve/resolved_lines.h"
#include "startup_set/startup_set.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;
using namespace frontload;

const StringLiteral frontload::programName = "frontload-resolve";

static cl::OptionCategory category("Options");
static cl::opt<std::string> profileArgument(cl::Positional, cl::Required, cl::desc("PROFILE"),
                                            cl::cat(category));
static cl::list<std::string> fileArguments(cl::Positional, cl::OneOrMore, cl::desc("FILE..."),
                                           cl::cat(category));
static cl::opt<bool>
    startupSetOption("startup-set", cl::cat(category),
                     cl::desc("Write the sections of the front instead of the names"));

static cl::opt<bool>
    blocksOption("blocks", cl::cat(category),
                 cl::desc("Write the basic blocks of functions instead of the names"));
static cl::opt<bool> listedOption("listed", cl::cat(category),
                                  cl::desc("FILE lists the symbols of files that are not ELF"));

static constexpr char overview[] =
    "frontload-resolve [options] PROFILE FILE...\n\n"
    "Finds what the names of a startup profile stand for in objects and archives, or in one linked "
    "file.\n";
static cl::extrahelp moreHelp(R"(
examples:
  # find what a profile names in its program
  frontload-resolve app.startup app
  # find the sections of an object that a front would contain
  frontload-resolve --startup-set app.startup app.o

exit status:
  0   done
  2   the command line is wrong, or a file on it cannot be read
  65  the contents of a file are bad
)");

[[noreturn]] static void fail(Error error, const Twine &note) {
  int code = error.isA<CannotOpen>() ? exitUsage : exitData;
  fail(code, toString(std::move(error)), note);
}

/// Exits without destructors: freeing a million names takes half a second.
[[noreturn]] static void end() {
  outs().flush();
  if (outs().has_error())
    fail(exitUsage, "cannot write: " + outs().error().message(), "make room for it");
  std::_Exit(0);
}

/// Finds names in a list of symbols.
[[noreturn]] static void resolveListed(const StartupProfile &profile) {
  if (fileArguments.size() != 1 || startupSetOption || blocksOption)
    fail(exitUsage, "--listed takes one FILE, and no other option",
         "try: frontload-resolve --help");
  auto list = MemoryBuffer::getFile(fileArguments[0], /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!list)
    fail(exitUsage, fileArguments[0] + ": " + list.getError().message(), "give a list of symbols");
  auto places = findListed(profile, fileArguments[0], (*list)->getBuffer());
  if (!places)
    fail(places.takeError(), "listed_symbols.h says what a list is");
  outs() << resolvedHeader;
  writeListed(outs(), *places);
  end();
}

/// Finds names in objects and archives, or in a linked file. `profile` refers to `text`.
[[noreturn]] static void resolveFiles(StartupProfile &profile, MemoryBuffer &text) {
  InputFiles files;
  for (const std::string &path : fileArguments)
    if (Error error = files.add(path))
      fail(std::move(error), "give objects and archives, or a linked file that is not stripped");
  if (files.numOthers())
    warning("members of archives that are not ELF objects: " + Twine(files.numOthers()));

  if (startupSetOption)
    sortByTier(profile);
  StartupSet set(profile, /*gathersStrings=*/false);
  const unsigned numThreads = parallel::strategy.compute_thread_count();
  std::vector<StartupSections> sections = set.find(files.objects(), numThreads);
  set.endSearch();
  text.dontNeedIfMmap();
  outs() << resolvedHeader;
  if (startupSetOption)
    writeSections(outs(), sections, files.objects());
  else if (!blocksOption)
    writePlaces(outs(), profile, set, files.objects(), numThreads);
  else if (Error error = writeBlocks(outs(), profile, set, files.objects()))
    fail(std::move(error), "compile it again");
  end();
}

int main(int argc, char **argv) {
  if (std::optional<Refusal> refusal = parseProgramOptions(argc, argv, category, overview))
    return refuse(*refusal);
  auto text = MemoryBuffer::getFile(profileArgument, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!text)
    fail(exitUsage, profileArgument + ": " + text.getError().message(),
         "give a startup profile that can be read");
  Expected<StartupProfile> profile = parseStartupProfile(profileArgument, (*text)->getBuffer());
  if (!profile)
    fail(profile.takeError(), "make it again with 'frontload profile'");
  if (listedOption)
    resolveListed(*profile);
  resolveFiles(*profile, **text);
}
