//===- lld_hooks.cpp - gives lld the plugin interface that it has not ------===//
//
// Everything that depends on lld's insides, and so on its version, is in this file and in the list
// of symbols in CMakeLists.txt:
//
// * createObjFile is called once for each object: files, members of archives (extracted or not) and
//   the output of LTO.
// * parseFiles is called once, after the objects of the command line are created and before lld
// looks
//   at their sections. This is where the front is planned, with all objects in view.
// * processSectionCommands assigns sections to the output sections of linker scripts. By then
//   everything that can be in the link is, and nothing is written: the last moment to refuse it.
// * StringMatcher::match is called in it for each section and each pattern. Our patterns are
// answered
//   by address of the section's name (see FrontLink), others by lld.
// * getPriority is what SORT_BY_INIT_PRIORITY in a linker script sorts by: the number at the end of
// a
//   section's name. The sections of a front have their place in first-touch order instead.
// * readLinkerScript is called by us, as lld does for a script among its inputs.
//
// A changed signature has another mangled name, so with another lld the build fails instead of the
// program.
//
//===----------------------------------------------------------------------===//

#include "lld_hooks.h"
#include "../front_link.h"
#include "../front_script.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/Common/Strings.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace frontload;

#define CREATE_OBJ_FILE                                                                            \
  "_ZN3lld3elf13createObjFileERNS0_3CtxEN4llvm15MemoryBufferRefENS3_9StringRefEb"
#define PARSE_FILES                                                                                \
  "_ZN3lld3elf10parseFilesERNS0_3CtxERKN4llvm11SmallVectorISt10unique_ptrINS0_9InputFileE"         \
  "St14default_deleteIS6_EELj0EEE"
#define GET_PRIORITY "_ZN3lld3elf11getPriorityEN4llvm9StringRefE"
#define PROCESS_SECTION_COMMANDS "_ZN3lld3elf12LinkerScript22processSectionCommandsEv"
#define MATCH "_ZNK3lld13StringMatcher5matchEN4llvm9StringRefE"
#define REAL(symbol) asm("__real_" symbol)
#define WRAP(symbol) asm("__wrap_" symbol)

namespace lld::elf {
struct Ctx;
void readLinkerScript(Ctx &ctx, MemoryBufferRef mb);
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
void realParseFiles(lld::elf::Ctx &ctx, const void *files) REAL(PARSE_FILES);
void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) WRAP(PARSE_FILES);
void realProcessSectionCommands(void *script) REAL(PROCESS_SECTION_COMMANDS);
void wrapProcessSectionCommands(void *script) WRAP(PROCESS_SECTION_COMMANDS);
bool realMatch(const lld::StringMatcher *matcher, StringRef name) REAL(MATCH);
bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) WRAP(MATCH);
int realGetPriority(StringRef name) REAL(GET_PRIORITY);
int wrapGetPriority(StringRef name) WRAP(GET_PRIORITY);

static FrontLink *frontLink;
/// Below this share of names found, the link says so.
static constexpr uint64_t warnBelowPercent = 80;

static std::string script; // lld keeps references into its text

/// Ends the link before it has written anything.
[[noreturn]] static void fail(const Twine &message, const Twine &note) {
  errs() << "ld.frontload: error: " << message << '\n';
  if (!note.isTriviallyEmpty())
    errs() << "ld.frontload: note: " << note << '\n';
  lld::exitLld(1);
}

/// Says how much of the profile this link has, if that is little. A profile that fits no more would
/// otherwise cost its user the front without a word.
static void tellMatches() {
  uint64_t total = frontLink->entryStates().size(), found = frontLink->found();
  if (found == 0)
    fail(frontLink->profilePath() + ": none of its " + Twine(total) + " names is in this link",
         "the profile is of another program, or out of date: record it again");
  if (found * 100 < total * warnBelowPercent)
    errs() << "ld.frontload: warning: " << frontLink->profilePath() << ": " << found << " of "
           << total
           << format(" names found (%.1f%%); record the profile again\n", 100.0 * found / total);
}

OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy) {
  if (frontLink)
    if (Error e = frontLink->addObject(mb))
      fail(toString(std::move(e)), "");
  return realCreateObjFile(ctx, mb, archive, lazy);
}

void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) {
  if (frontLink) {
    script = frontLink->plan();
    lld::elf::readLinkerScript(ctx, MemoryBufferRef(script, "<frontload>"));
  }
  realParseFiles(ctx, files);
}

/// Which of our patterns `matcher` is. One that fits everything is not ours.
static std::optional<SectionClass> patternOf(const lld::StringMatcher *matcher) {
  std::optional<SectionClass> result;
  for (unsigned i = 0; i < numSectionClasses; ++i) {
    auto c = static_cast<SectionClass>(i);
    if (!realMatch(matcher, startupPattern(c)))
      continue;
    if (result)
      return std::nullopt;
    result = c;
  }
  return result;
}

namespace {
/// The pattern that lld is busy with: it takes one after the other, in one thread, and they stay
/// where they are as long as it does.
struct CurrentPattern {
  const lld::StringMatcher *matcher = nullptr;
  std::optional<SectionClass> ours;
};
} // namespace
static std::optional<CurrentPattern> currentPattern; // in processSectionCommands only

void wrapProcessSectionCommands(void *linkerScript) {
  if (!frontLink)
    return realProcessSectionCommands(linkerScript);
  tellMatches();
  currentPattern.emplace();
  realProcessSectionCommands(linkerScript);
  currentPattern.reset();
}

bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) {
  if (!currentPattern)
    return realMatch(matcher, name);
  if (currentPattern->matcher != matcher)
    currentPattern = CurrentPattern{matcher, patternOf(matcher)};
  return currentPattern->ours ? frontLink->isStartupSection(name, *currentPattern->ours)
                              : realMatch(matcher, name);
}

int wrapGetPriority(StringRef name) {
  if (currentPattern)
    if (std::optional<int> priority = frontLink->priority(name))
      return *priority;
  return realGetPriority(name);
}

void frontload::installHooks(FrontLink &link) { frontLink = &link; }
