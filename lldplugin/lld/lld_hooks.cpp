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
// * processInsertCommands is called once, after LTO and before anything is written: the last moment
// to
//   refuse a link.
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
#include "lld/Common/ErrorHandler.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

#define CREATE_OBJ_FILE                                                                            \
  "_ZN3lld3elf13createObjFileERNS0_3CtxEN4llvm15MemoryBufferRefENS3_9StringRefEb"
#define PARSE_FILES                                                                                \
  "_ZN3lld3elf10parseFilesERNS0_3CtxERKN4llvm11SmallVectorISt10unique_ptrINS0_9InputFileE"         \
  "St14default_deleteIS6_EELj0EEE"
#define GET_PRIORITY "_ZN3lld3elf11getPriorityEN4llvm9StringRefE"
#define PROCESS_INSERT_COMMANDS "_ZN3lld3elf12LinkerScript21processInsertCommandsEv"
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
void realProcessInsertCommands(void *script) REAL(PROCESS_INSERT_COMMANDS);
void wrapProcessInsertCommands(void *script) WRAP(PROCESS_INSERT_COMMANDS);
int realGetPriority(StringRef name) REAL(GET_PRIORITY);
int wrapGetPriority(StringRef name) WRAP(GET_PRIORITY);

static frontload::FrontLink *frontLink;
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
    Expected<std::string> text = frontLink->plan();
    if (!text)
      fail(toString(text.takeError()), "");
    script = std::move(*text);
    lld::elf::readLinkerScript(ctx, MemoryBufferRef(script, "<frontload>"));
  }
  realParseFiles(ctx, files);
}

void wrapProcessInsertCommands(void *linkerScript) {
  if (frontLink)
    tellMatches();
  realProcessInsertCommands(linkerScript);
}

int wrapGetPriority(StringRef name) {
  if (frontLink)
    if (std::optional<int> priority = frontLink->priority(name))
      return *priority;
  return realGetPriority(name);
}

void frontload::installHooks(FrontLink &link) { frontLink = &link; }
