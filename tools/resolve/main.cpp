//===- main.cpp - frontload-resolve: what names are in a link --------------===//
//
// How a profile's names find what they stand for is decided in one place (names/). This program
// lets the scripts ask, for links that they write order files for and for programs that are linked.
//
// It writes lines of fields, separated by TAB. Names are escaped as in startup profiles. First
//
//   frontload-resolve 1
//
// then, for each place that an entry of the profile stands for,
//
//   name ENTRY HOW OBJECT SECTION SYMBOL VALUE
//
//     ENTRY    its number in the profile, from 0
//     HOW      how its name was found: exact, suffix, clone, variant, hash or part
//     OBJECT   the base name of the file, or archive(member)
//     SECTION  the name of the section there
//     SYMBOL   its name there; empty for an entry that is a section
//     VALUE    in hexadecimal, the address in a linked file, the offset in the section of an object
//
// and for each entry that is only defined where nothing can be moved
//
//   unmovable ENTRY
//
// With --listed, FILE is not a linked file or object but lists the symbols of such files, as
// listed_symbols.h says; SECTION is empty, and VALUE is the line of the list, from 0.
//
// With --startup-set it writes, in planned order, the sections that a front would hold, and those
// that would follow it:
//
//   section CLASS REGION OBJECT SECTION SIZE INDEX NAMESAKES TOTAL
//
//     CLASS      text, rodata, relro, data or bss
//     REGION     front or next
//     SIZE       in bytes
//     INDEX      in the object's table of sections
//     NAMESAKES  how many sections of its name the objects have, outside of COMDAT groups
//     TOTAL      the size of all of these, in bytes
//
//===----------------------------------------------------------------------===//

#include "profile/startup_profile.h"
#include "profile/tiers.h"
#include "program/usage_error.h"
#include "resolve/input_files.h"
#include "resolve/listed_symbols.h"
#include "resolve/namesakes.h"
#include "startup_set/startup_set.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace llvm;
using namespace frontload;

static cl::OptionCategory category("Options");
static cl::opt<std::string> profileArgument(cl::Positional, cl::Required, cl::desc("PROFILE"),
                                            cl::cat(category));
static cl::list<std::string> fileArguments(cl::Positional, cl::OneOrMore, cl::desc("FILE..."),
                                           cl::cat(category));
static cl::opt<bool> startupSetOption("startup-set", cl::cat(category),
                                      cl::desc("Write the sections of the front, not the names"));

static cl::opt<bool> listedOption("listed", cl::cat(category),
                                  cl::desc("FILE lists symbols, of files that are not ELF"));

static constexpr char overview[] =
    "frontload-resolve [options] PROFILE FILE...\n\n"
    "Says what the names of a startup profile are in objects and archives, or in one linked "
    "file.\n";
static cl::extrahelp moreHelp(R"(
examples:
  # where a program has what its profile names
  frontload-resolve app.startup app
  # which sections of an object a front would consist of
  frontload-resolve --startup-set app.startup app.o

exit status:
  0   done
  2   the command line is wrong, or a file that it names cannot be read
  65  what a file contains is bad
)");

static constexpr char header[] = "frontload-resolve 1\n";
static constexpr int exitUsage = 2, exitData = 65;

[[noreturn]] static void fail(int code, const Twine &message, const Twine &note) {
  errs() << "frontload-resolve: error: " << message << '\n';
  errs() << "frontload-resolve: note: " << note << '\n';
  std::exit(code);
}

[[noreturn]] static void fail(Error error, const Twine &note) {
  int code = error.isA<CannotOpen>() ? exitUsage : exitData;
  fail(code, toString(std::move(error)), note);
}

static void writePlaces(raw_ostream &os, const StartupProfile &profile, const StartupSet &set,
                        ArrayRef<InputObject> objects) {
  for (const EntryPlace &place : set.entryPlaces()) {
    bool isSection = profile.entries[place.entry].kind == EntryKind::Section;
    os << "name\t" << place.entry << '\t' << toString(set.foundNames().best(place.entry).likeness())
       << '\t' << escapeName(objects[place.object].name()) << '\t' << escapeName(place.sectionName)
       << '\t' << (isSection ? "" : escapeName(place.symbol)) << '\t'
       << utohexstr(place.value, true) << '\n';
  }
  for (auto [entry, isUnmovable] : enumerate(set.unmovableEntries()))
    if (isUnmovable)
      os << "unmovable\t" << entry << '\n';
}

static void writeListed(raw_ostream &os, ArrayRef<ListedPlace> places) {
  for (const ListedPlace &place : places)
    os << "name\t" << place.entry << '\t' << toString(place.likeness) << '\t'
       << escapeName(place.object) << "\t\t" << escapeName(place.name) << '\t'
       << utohexstr(place.line, true) << '\n';
}

static void writeSections(raw_ostream &os, ArrayRef<StartupSections> sets,
                          ArrayRef<InputObject> objects) {
  std::vector<std::pair<uint32_t, const StartupSection *>> all;
  for (auto [object, sections] : enumerate(sets))
    for (const StartupSection &section : sections)
      all.push_back({uint32_t(object), &section});
  llvm::sort(all, [](const auto &a, const auto &b) {
    return std::tuple(a.second->region, a.second->rank, a.first, a.second->index) <
           std::tuple(b.second->region, b.second->rank, b.first, b.second->index);
  });
  StringMap<Namesakes> counts = countNamesakes(objects);
  for (auto [object, section] : all) {
    Namesakes namesakes = counts.lookup(section->name);
    os << "section\t" << toString(section->sectionClass) << '\t'
       << (section->region == Region::Front ? "front" : "next") << '\t'
       << escapeName(objects[object].name()) << '\t' << escapeName(section->name) << '\t'
       << section->size << '\t' << section->index << '\t' << namesakes.count << '\t'
       << namesakes.size << '\n';
  }
}

/// What is in a list of symbols.
static void resolveListed(const StartupProfile &profile) {
  if (fileArguments.size() != 1 || startupSetOption)
    fail(exitUsage, "--listed takes one FILE, and not --startup-set",
         "try: frontload-resolve --help");
  auto list = MemoryBuffer::getFile(fileArguments[0], /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!list)
    fail(exitUsage, fileArguments[0] + ": " + list.getError().message(), "give a list of symbols");
  auto places = findListed(profile, fileArguments[0], (*list)->getBuffer());
  if (!places)
    fail(places.takeError(), "listed_symbols.h says what a list is");
  outs() << header;
  writeListed(outs(), *places);
}

/// What is in objects and archives, or in a linked file.
static void resolveFiles(StartupProfile &profile) {
  InputFiles files;
  for (const std::string &path : fileArguments)
    if (Error error = files.add(path))
      fail(std::move(error), "give objects and archives, or a linked file that is not stripped");
  if (files.numOthers())
    errs() << "frontload-resolve: warning: members of archives that are no ELF objects: "
           << files.numOthers() << '\n';

  if (startupSetOption)
    sortByTier(profile);
  StartupSet set(profile, /*gathersStrings=*/false);
  std::vector<StartupSections> sections =
      set.find(files.objects(), parallel::strategy.compute_thread_count());
  outs() << header;
  if (startupSetOption)
    writeSections(outs(), sections, files.objects());
  else
    writePlaces(outs(), profile, set, files.objects());
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter([](raw_ostream &os) { os << "frontload-resolve " FRONTLOAD_VERSION "\n"; });
  std::string messages;
  raw_string_ostream messageStream(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &messageStream, nullptr, nullptr,
                                   /*LongOptionsUseDoubleDash=*/true)) {
    UsageError wrong = usageErrorOf("frontload-resolve", messages);
    fail(exitUsage, wrong.message, wrong.note);
  }

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
  else
    resolveFiles(*profile);
  outs().flush();
  if (outs().has_error())
    fail(exitUsage, "cannot write: " + outs().error().message(), "see that there is room for it");
  return 0;
}
