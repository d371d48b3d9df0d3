//===- lld_hooks.cpp - gives lld the plugin interface that it has not ------===//
//
// Everything that depends on lld's insides, and so on its version, is in this file and in the list
// of symbols in CMakeLists.txt:
//
// * createObjFile is called once for each object: files, members of archives (extracted or not) and
//   the output of LTO.
// * readLinkerScript is called for each linker script, by option or among the inputs, and by us for
//   ours.
// * parseFiles is called once, after the objects of the command line are created and before lld
//   looks at their sections. This is where the front is planned, with all objects in view.
// * splitSections cuts merged sections into strings, after link-time optimization and before
//   anything has a place. In it, xxh3_64bits gives each string the hash that decides its order.
// * processSectionCommands assigns sections to the output sections of linker scripts. By then
//   everything that can be in the link is, and nothing is written: the last moment to refuse it.
// * StringMatcher::match is called in it for each section and each pattern. Our patterns are
//   answered by the address of the section's name (see FrontLink), others by lld.
// * getPriority is what SORT_BY_INIT_PRIORITY in a linker script sorts by: the number at the end of
//   a section's name. The sections of a front have their place in first-touch order instead.
//
// A changed signature has another mangled name, so with another lld the build fails instead of the
// program.
//
//===----------------------------------------------------------------------===//

#include "lld_hooks.h"
#include "../diagnostics.h"
#include "../front_link.h"
#include "../front_note.h"
#include "../front_script.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/Common/Strings.h"

using namespace llvm;
using namespace frontload;

#define CREATE_OBJ_FILE                                                                            \
  "_ZN3lld3elf13createObjFileERNS0_3CtxEN4llvm15MemoryBufferRefENS3_9StringRefEb"
#define PARSE_FILES                                                                                \
  "_ZN3lld3elf10parseFilesERNS0_3CtxERKN4llvm11SmallVectorISt10unique_ptrINS0_9InputFileE"         \
  "St14default_deleteIS6_EELj0EEE"
#define READ_LINKER_SCRIPT "_ZN3lld3elf16readLinkerScriptERNS0_3CtxEN4llvm15MemoryBufferRefE"
#define GET_PRIORITY "_ZN3lld3elf11getPriorityEN4llvm9StringRefE"
#define SPLIT_SECTIONS(endianness, is64)                                                           \
  "_ZN3lld3elf13splitSectionsIN4llvm6object7ELFTypeILNS2_10endiannessE" #endianness "ELb" #is64    \
  "EEEEEvRNS0_3CtxE"
#define XXH3_64BITS "_ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE"
#define PROCESS_SECTION_COMMANDS "_ZN3lld3elf12LinkerScript22processSectionCommandsEv"
#define MATCH "_ZNK3lld13StringMatcher5matchEN4llvm9StringRefE"
#define REAL(symbol) asm("__real_" symbol)
#define WRAP(symbol) asm("__wrap_" symbol)

namespace lld::elf {
struct Ctx;
} // namespace lld::elf

/// Stands for std::unique_ptr<ELFFileBase>, whose pointee's type is lld's secret. It only has to be
/// returned in the same way, which by the C++ ABI is decided by the destructor.
struct OwnedFile {
  void *file;
  OwnedFile(const OwnedFile &) = delete;
  ~OwnedFile();
};

OwnedFile realCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy)
    REAL(CREATE_OBJ_FILE);
OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy)
    WRAP(CREATE_OBJ_FILE);
void realReadLinkerScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) REAL(READ_LINKER_SCRIPT);
void wrapReadLinkerScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) WRAP(READ_LINKER_SCRIPT);
void realParseFiles(lld::elf::Ctx &ctx, const void *files) REAL(PARSE_FILES);
void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) WRAP(PARSE_FILES);
uint64_t realXxh3(ArrayRef<uint8_t> data) REAL(XXH3_64BITS);
uint64_t wrapXxh3(ArrayRef<uint8_t> data) WRAP(XXH3_64BITS);
void realProcessSectionCommands(void *script) REAL(PROCESS_SECTION_COMMANDS);
void wrapProcessSectionCommands(void *script) WRAP(PROCESS_SECTION_COMMANDS);
bool realMatch(const lld::StringMatcher *matcher, StringRef name) REAL(MATCH);
bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) WRAP(MATCH);
int realGetPriority(StringRef name) REAL(GET_PRIORITY);
int wrapGetPriority(StringRef name) WRAP(GET_PRIORITY);

static FrontLink *frontLink;
static double minMatch;
static std::string script; // lld keeps references into its text

/// Ends the link before it has written anything.
[[noreturn]] static void fail(int code, const Twine &message, const Twine &note) {
  error(message, note);
  lld::exitLld(code);
}

/// Says how much of the profile this link has found. A profile that fits no more would otherwise
/// cost its user the front without a word.
static void tellMatches() {
  MatchSummary summary = frontLink->matchSummary();
  const std::string &path = frontLink->profilePath();
  if (!summary.isBelow(minMatch)) {
    // Not stdout: the report may go there.
    lld::message("ld.frontload: " + path + ": " + summary.describe(), errs());
    return;
  }
  if (summary.found == 0)
    fail(exitVerdict, path + ": none of its " + Twine(summary.total()) + " names is in this link",
         "the profile is of another program, or out of date: record it again");
  fail(exitVerdict, path + ": " + summary.describe(),
       "record the profile again, or accept less with --min-match=PERCENT; missing:" +
           summary.listMissing());
}

OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy) {
  if (frontLink)
    frontLink->addObject({mb, archive, lazy});
  return realCreateObjFile(ctx, mb, archive, lazy);
}

void wrapReadLinkerScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) {
  if (frontLink && decidesLayout(mb.getBuffer()))
    fail(exitUsage,
         mb.getBufferIdentifier() + ": a linker script that decides the layout cannot be "
                                    "combined with --startup-profile",
         "use one of the two; scripts with only GROUP, INPUT, VERSION and the like are no trouble");
  realReadLinkerScript(ctx, mb);
}

/// Gives lld an object with a blank note (front_note.h) to link, for the machine of `like`.
static void addNote(lld::elf::Ctx &ctx, StringRef like) {
  static std::string object; // lld keeps references into it
  object = makeNoteObject(like);
  // Neither is freed: the link refers to them to its end. A vector of owning pointers looks like
  // one of plain pointers.
  auto &owner = *new OwnedFile(realCreateObjFile(ctx, {object, "<frontload>"}, "", false));
  auto &files = *new SmallVector<void *, 0>{owner.file};
  realParseFiles(ctx, &files);
}

void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) {
  std::optional<MemoryBufferRef> like;
  if (frontLink) {
    like = frontLink->firstObject();
    frontLink->beginPlanning();
    script = frontLink->script();
    realReadLinkerScript(ctx, MemoryBufferRef(script, "<frontload>"));
  }
  realParseFiles(ctx, files);
  if (like)
    addNote(ctx, like->getBuffer());
  // A failed link ends soon after this, and takes LLVM's thread pool with it.
  if (frontLink)
    frontLink->finishPlanning();
}

/// Which of our patterns `matcher` is. One that fits everything is not ours.
static std::optional<Pattern> patternOf(const lld::StringMatcher *matcher) {
  std::optional<Pattern> result;
  for (unsigned i = 0; i < numPatterns; ++i) {
    auto pattern = static_cast<Pattern>(i);
    if (!realMatch(matcher, textOf(pattern)))
      continue;
    if (result)
      return std::nullopt;
    result = pattern;
  }
  return result;
}

namespace {
/// The pattern that lld is busy with: it takes one after the other, in one thread, and they stay
/// where they are as long as it does.
struct CurrentPattern {
  const lld::StringMatcher *matcher = nullptr;
  std::optional<Pattern> ours;
  size_t position = 0; ///< in `asked`
};

/// A section that lld has asked for, and the answer.
struct Asked {
  const char *name;
  std::optional<Pattern> pattern;
};
} // namespace
static std::optional<CurrentPattern> currentPattern; // in processSectionCommands only
/// For each pattern lld goes through the same sections in the same order, and leaves out those that
/// have a place by then. So what the first of our patterns was asked is read off for the others.
static std::vector<Asked> asked;
static const lld::StringMatcher *firstPattern;

static std::optional<Pattern> patternFor(StringRef name) {
  if (!firstPattern)
    firstPattern = currentPattern->matcher;
  if (firstPattern == currentPattern->matcher) {
    asked.push_back({name.data(), frontLink->patternFor(name)});
    return asked.back().pattern;
  }
  size_t &position = currentPattern->position;
  while (position < asked.size() && asked[position].name != name.data())
    ++position;
  // At the end, should another lld have another order, nothing is read off any more.
  return position < asked.size() ? asked[position++].pattern : frontLink->patternFor(name);
}

/// Whether the section of this name belongs to the current pattern, which is ours; then it is
/// placed.
static bool matchesOurs(StringRef name) {
  if (patternFor(name) != *currentPattern->ours)
    return false;
  frontLink->place(name);
  return true;
}

/// The strings of startup, while strings are being cut.
static const HotStrings *hotStrings;

uint64_t wrapXxh3(ArrayRef<uint8_t> data) {
  uint64_t hash = realXxh3(data);
  return hotStrings ? hotStrings->order(hash) : hash;
}

static void splitSections(lld::elf::Ctx &ctx, void (*real)(lld::elf::Ctx &)) {
  if (frontLink) {
    frontLink->finishPlanning(); // with what link-time optimization has made
    if (frontLink->gathersStrings())
      hotStrings = &frontLink->hotStrings();
  }
  real(ctx);
  hotStrings = nullptr;
}

/// Wraps splitSections for one kind of ELF file.
#define WRAP_SPLIT_SECTIONS(kind, endianness, is64)                                                \
  void realSplitSections##kind(lld::elf::Ctx &ctx) REAL(SPLIT_SECTIONS(endianness, is64));         \
  void wrapSplitSections##kind(lld::elf::Ctx &ctx) WRAP(SPLIT_SECTIONS(endianness, is64));         \
  void wrapSplitSections##kind(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections##kind); }

WRAP_SPLIT_SECTIONS(32BE, 0, 0)
WRAP_SPLIT_SECTIONS(64BE, 0, 1)
WRAP_SPLIT_SECTIONS(32LE, 1, 0)
WRAP_SPLIT_SECTIONS(64LE, 1, 1)

void wrapProcessSectionCommands(void *linkerScript) {
  if (!frontLink)
    return realProcessSectionCommands(linkerScript);
  currentPattern.emplace();
  realProcessSectionCommands(linkerScript);
  currentPattern.reset();
  frontLink->finish();
  tellMatches();
}

bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) {
  if (!currentPattern)
    return realMatch(matcher, name);
  if (currentPattern->matcher != matcher)
    currentPattern = CurrentPattern{matcher, patternOf(matcher)};
  return currentPattern->ours ? matchesOurs(name) : realMatch(matcher, name);
}

int wrapGetPriority(StringRef name) {
  if (currentPattern)
    if (std::optional<int> priority = frontLink->priority(name))
      return *priority;
  return realGetPriority(name);
}

void frontload::installHooks(FrontLink &link, double leastMatch) {
  frontLink = &link;
  minMatch = leastMatch;
}
