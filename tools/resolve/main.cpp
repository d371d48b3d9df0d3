// frontload-resolve: finds names in a link.
//
// Only names/ decides what a profile's names stand for. Through this program, the scripts use it
// for links that need order files, and for linked programs. resolved_lines.h describes its output.
#include "elf/debug_file.h"
#include "elf/elf_object.h"
#include "profile/startup_profile.h"
#include "profile/tiers.h"
#include "program/tool.h"
#include "resolve/listed_symbols.h"
#include "resolve/resolved_lines.h"
#include "startup_set/startup_set.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <memory>
#include <vector>

using namespace llvm;
using namespace llvm::object;
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
static cl::opt<bool>
    touchedOption("touched", cl::cat(category),
                  cl::desc("Write the basic blocks of a program that ran: PROFILE is that program, "
                           "and FILE has the addresses that ran, in hexadecimal, one a line"));
static cl::opt<bool>
    startsOption("starts", cl::cat(category),
                 cl::desc("With --touched: blocks begin at all of these addresses"));
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
  # find the basic block that ran if code at this address did
  echo 401136 | frontload-resolve --touched app -

exit status:
  0   done
  2   the command line is wrong, or a file on it cannot be read
  65  the contents of a file are bad
)");

namespace {
/// The objects of FILE...: objects, archives, thin archives, or one linked file.
struct InputFiles {
  void add(const std::string &path);
  void addArchive(const std::string &path, MemoryBufferRef buffer);

  std::vector<InputObject> objects;
  unsigned numOthers = 0; ///< members of archives that are no ELF objects (bitcode, say)
  std::vector<std::unique_ptr<MemoryBuffer>> buffers;
  std::vector<std::unique_ptr<Archive>> archives; ///< own the members of thin archives
};
} // namespace

static constexpr char filesNote[] =
    "give objects and archives, or a linked file that is not stripped";

[[noreturn]] static void refuseFile(const Twine &path, const Twine &what) {
  fail(exitData, path + ": " + what, filesNote);
}

void InputFiles::add(const std::string &path) {
  buffers.push_back(readInput(path, filesNote));
  MemoryBufferRef contents(buffers.back()->getBuffer(), path);
  file_magic magic = identify_magic(contents.getBuffer());
  if (magic == file_magic::archive)
    return addArchive(path, contents);
  if (magic == file_magic::bitcode)
    refuseFile(path, "bitcode has no sections yet: give the linked program");
  bool isLinked = magic == file_magic::elf_executable || magic == file_magic::elf_shared_object;
  if (magic != file_magic::elf_relocatable && !isLinked)
    refuseFile(path, "neither an ELF file nor an archive");
  // Names need no contents, which its debug file lacks.
  if (std::unique_ptr<MemoryBuffer> debug = isLinked ? findDebugFile(contents) : nullptr) {
    buffers.back() = std::move(debug);
    contents = MemoryBufferRef(buffers.back()->getBuffer(), path);
  }
  objects.push_back({contents, "", /*isLazy=*/false, isLinked});
  bool hasSymbols = false;
  if (!withElfObject(contents.getBuffer(), isLinked,
                     [&](const auto &object) { hasSymbols = !object.symbols().empty(); }))
    refuseFile(path, "a damaged ELF file");
  // An object may have no symbols; a linked file without symbols was stripped.
  if (isLinked && !hasSymbols)
    refuseFile(path, "is stripped: it has no symbol table");
}

void InputFiles::addArchive(const std::string &path, MemoryBufferRef buffer) {
  auto archive = Archive::create(buffer);
  if (!archive)
    refuseFile(path, toString(archive.takeError()));
  archives.push_back(std::move(*archive));
  Error error = Error::success();
  for (const Archive::Child &child : archives.back()->children(error)) {
    auto member = child.getMemoryBufferRef();
    if (!member)
      refuseFile(path, toString(member.takeError()));
    if (member->getBuffer().starts_with(ELF::ElfMagic))
      objects.push_back({*member, path, /*isLazy=*/true});
    else
      ++numOthers;
  }
  if (error)
    refuseFile(path, toString(std::move(error)));
}

/// Exits without destructors: freeing a million names takes half a second.
[[noreturn]] static void end() {
  flushOutput();
  std::_Exit(0);
}

static std::vector<uint64_t> parseAddresses(StringRef path, StringRef text) {
  std::vector<uint64_t> addresses;
  for (size_t number = 1; !text.empty(); ++number) {
    auto [line, rest] = text.split('\n');
    text = rest;
    uint64_t address;
    if (line.getAsInteger(16, address))
      fail(exitData, path + ": line " + Twine(number) + ": not a hexadecimal number",
           "give one address a line");
    addresses.push_back(address);
  }
  llvm::sort(addresses);
  return addresses;
}

/// Finds the blocks of a program that ran.
[[noreturn]] static void resolveTouched() {
  auto program = readInput(profileArgument, "give a file that can be read");
  auto text = readInput(fileArguments[0], "give a file that can be read");
  std::vector<uint64_t> addresses = parseAddresses(fileArguments[0], text->getBuffer());
  auto functions = readBlockMap(program->getMemBufferRef());
  if (functions && functions->empty()) // strip may have moved the map to the debug file
    if (auto debug = findDebugFile(program->getMemBufferRef()))
      functions = readBlockMap(debug->getMemBufferRef());
  auto found =
      orExit(std::move(functions), profileArgument + ": ", "give the program that was recorded");
  outs() << resolvedHeader;
  writeTouched(outs(), found, addresses, startsOption);
  end();
}

/// Finds names in a list of symbols.
[[noreturn]] static void resolveListed(const StartupProfile &profile) {
  if (fileArguments.size() != 1 || startupSetOption || blocksOption)
    fail(exitUsage, "--listed takes one FILE, and no other option",
         "try: frontload-resolve --help");
  std::unique_ptr<MemoryBuffer> list = readInput(fileArguments[0], "give a list of symbols");
  auto places = orExit(findListed(profile, fileArguments[0], list->getBuffer()), "",
                       "listed_symbols.h says what a list is");
  outs() << resolvedHeader;
  writeListed(outs(), std::move(places));
  end();
}

/// Finds names in objects and archives, or in a linked file.
[[noreturn]] static void resolveFiles(StartupProfile &profile) {
  InputFiles files;
  for (const std::string &path : fileArguments)
    files.add(path);
  if (files.numOthers)
    warning("members of archives that are not ELF objects: " + Twine(files.numOthers));

  if (startupSetOption)
    sortByTier(profile);
  StartupSet set(profile, /*gathersStrings=*/false);
  std::vector<StartupSections> sections =
      set.find(files.objects, parallel::strategy.compute_thread_count());
  outs() << resolvedHeader;
  if (startupSetOption)
    writeSections(outs(), sections, files.objects);
  else if (!blocksOption)
    writePlaces(outs(), profile, set, files.objects);
  else if (Error error = writeBlocks(outs(), profile, set, files.objects))
    fail(exitData, toString(std::move(error)), "compile it again");
  end();
}

int main(int argc, char **argv) {
  parseOptions(argc, argv, category, overview);
  if (touchedOption)
    resolveTouched();
  std::unique_ptr<MemoryBuffer> text =
      readInput(profileArgument, "give a startup profile that can be read");
  StartupProfile profile = orExit(parseStartupProfile(profileArgument, text->getBuffer()), "",
                                  "make it again with 'frontload profile'");
  if (listedOption)
    resolveListed(profile);
  resolveFiles(profile);
}
