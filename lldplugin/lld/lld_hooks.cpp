//===- lld_hooks.cpp - adds the plugin interface that lld lacks -----------===//
//
// lld_symbols.h describes the functions of lld; this is what ld.frontload does in them.
//
//===----------------------------------------------------------------------===//

#include "lld/lld_hooks.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/Common/Strings.h"
#include "lld/gathered_objects.h"
#include "lld/hook_calls.h"
#include "lld/lld_symbols.h"
#include "lld/reproduce.h"
#include "lld/section_list.h"
#include "plan/front_link.h"
#include "plan/front_note.h"
#include "plan/front_script.h"
#include "plan/other_script.h"
#include "program/diagnostics.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"
#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

using namespace llvm;
using namespace frontload;

static std::function<FrontLink &()> awaitLink; // none: the hooks do nothing
static FrontLink *frontLink;                   // set once lld has opened its inputs
static double minMatch;
static std::function<int(const LinkInputs &)> insteadOfLink;
static LinkInputs inputs; // gathered for insteadOfLink only
static std::mutex inputsMutex;
static GatheredObjects gathered;
static std::atomic<bool> hasReadObject; // as a file of the command line
static std::atomic<bool> hasBitcode;
static std::vector<StringRef> scripts; // linker scripts among the inputs
static std::string listedInput;
static bool hasNote;                    // whether the note's object is an input
static std::string script, laterScript; // lld keeps references into their text
static SectionList sectionList;
/// Lists with fewer sections stay as they are: lld goes through them in no time.
static constexpr size_t minToShorten = 4096;

/// Ends the link before it has written anything.
[[noreturn]] static void endLink(int code, const Twine &message, const Twine &note) {
  error(message, note);
  lld::exitLld(code);
}

/// Without this, a profile that no longer fits would silently cost users the front.
int frontload::tellMatches(const FrontLink &link, double minPercent) {
  MatchVerdict verdict = link.matchSummary().judge(link.profilePath(), minPercent, "--min-match");
  if (verdict.isError) {
    error(verdict.text, verdict.note);
    return exitVerdict;
  }
  StringRef needed = link.linkTraits().packsRelocations
                         ? "; needs glibc 2.36 or newer, for packed relocations (without them: "
                           "-z nopack-relative-relocs)"
                         : "";
  // Not stdout: the report may go there.
  lld::message(programName + ": " + verdict.text + needed, errs());
  return EXIT_SUCCESS;
}

/// Looks at a linker script before lld does.
static void addScript(MemoryBufferRef mb) {
  if (decidesLayout(mb.getBuffer()))
    endLink(exitUsage,
            mb.getBufferIdentifier() + ": a linker script that decides the layout cannot be "
                                       "combined with --startup-profile",
            "use one of the two; scripts with only GROUP, INPUT, VERSION and the like are fine");
  scripts.push_back(mb.getBuffer());
}

/// How deeply linker scripts are nested. lld reads files that they INCLUDE by readFile() alone.
static unsigned scriptDepth;

static std::optional<MemoryBufferRef> readFile(lld::elf::Ctx &ctx, StringRef path) {
  std::optional<MemoryBufferRef> buffer = realReadFile(ctx, path);
  // lld takes a file of unknown format for a script.
  if (awaitLink && scriptDepth && buffer &&
      identify_magic(buffer->getBuffer()) == file_magic::unknown)
    addScript(*buffer);
  return buffer;
}

std::optional<MemoryBufferRef> wrapReadFile(lld::elf::Ctx &ctx, StringRef path) {
  hookCalls.count(Hook::ReadFile);
  // Before the file is read, so that a write in between is noticed.
  FileIdentity identity = insteadOfLink ? identityOf(path.str()) : FileIdentity();
  std::optional<MemoryBufferRef> buffer = readFile(ctx, path);
  if (buffer && identify_magic(buffer->getBuffer()) == file_magic::elf_relocatable)
    hasReadObject = true;
  if (buffer && insteadOfLink) {
    std::lock_guard lock(inputsMutex);
    inputs.files.push_back({*buffer, identity});
  }
  return buffer;
}

OwnedFile wrapCreateObjFile(lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive, bool lazy) {
  hookCalls.count(Hook::CreateObjFile);
  OwnedFile created = realCreateObjFile(ctx, mb, archive, lazy);
  if (awaitLink)
    gathered.add(created.file, {mb, archive, lazy});
  return created;
}

/// Tells the link of the objects that were created since the last time.
static void addObjects(ArrayRef<const void *> files = {}) {
  for (const InputObject &object : gathered.take(files)) {
    frontLink->addObject(object);
    if (insteadOfLink)
      inputs.objects.push_back(object);
  }
}

/// Ends the link if lld has opened its inputs without calling the hooks for that.
static void checkInputs() {
  hookCalls.requireOnce(Hook::ParseFiles);
  if (hookCalls.has(Hook::CreateObjFile))
    hookCalls.require(Hook::ReadFile);
  if (insteadOfLink && hasReadObject)
    hookCalls.require(Hook::CreateObjFile);
  // lld has tried whether it can write the output.
  hookCalls.require(Hook::CreateOutput);
  if (gathered.hasFoundNone())
    endLink(exitVerdict, "this lld keeps its files in another way than ld.frontload expects",
            "link without --startup-profile; docs/lld-hooks.md says what it expects");
}

void wrapBitcodeFile(void *file, lld::elf::Ctx &ctx, MemoryBufferRef mb, StringRef archive,
                     uint64_t offset, bool lazy) {
  hasBitcode = true;
  realBitcodeFile(file, ctx, mb, archive, offset, lazy);
}

void wrapReadLinkerScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) {
  if (awaitLink)
    addScript(mb);
  ++scriptDepth;
  realReadLinkerScript(ctx, mb);
  --scriptDepth;
}

/// Gives lld an object with a blank note (front_note.h) to link, for the machine of `like`.
static void addNote(lld::elf::Ctx &ctx, StringRef like) {
  static std::string object; // lld keeps references into it
  object = makeNoteObject(like, frontLink->copiesConstants());
  // Neither is freed: the link refers to them to its end.
  auto &owner = *new OwnedFile(realCreateObjFile(ctx, {object, "<frontload>"}, "", false));
  auto &files = *new SmallVector<void *, 0>{owner.file};
  realParseFiles(ctx, &files);
}

void wrapParseFiles(lld::elf::Ctx &ctx, const void *files) {
  std::optional<MemoryBufferRef> like;
  if (!isReplayComplete())
    endLink(exitVerdict, "the tar of --reproduce lacks the options of the front",
            "please report this; link without --reproduce until it is fixed");
  if (awaitLink) {
    hookCalls.count(Hook::ParseFiles);
    frontLink = &awaitLink();
    llvm::for_each(scripts, [](StringRef each) { frontLink->addScript(each); });
    if (hasBitcode)
      frontLink->expectObjects();
    // A vector of owning pointers looks like one of plain pointers.
    addObjects(*static_cast<const SmallVector<const void *, 0> *>(files));
    checkInputs();
  }
  if (insteadOfLink) {
    inputs.like = frontLink->firstObject();
    frontLink->finishPlanning();
    lld::exitLld(insteadOfLink(inputs));
  }
  if (!listedInput.empty())
    realReadFile(ctx, listedInput);
  if (frontLink) {
    like = frontLink->firstObject();
    frontLink->beginPlanning();
    script = frontLink->script();
    realReadLinkerScript(ctx, MemoryBufferRef(script, "<frontload>"));
  }
  realParseFiles(ctx, files);
  if (like)
    addNote(ctx, like->getBuffer());
  hasNote = like.has_value();
  if (!frontLink)
    return;
  addObjects();
  sectionList.beginSearch(ctx, minToShorten);
}

void wrapGrow(SmallVectorBase<uint32_t> *vector, void *first, size_t minSize, size_t elementSize) {
  sectionList.meet(vector, minSize, elementSize);
  realGrow(vector, first, minSize, elementSize);
}

/// Which of our patterns `matcher` is. One that fits everything is not ours.
static std::optional<Pattern> ownPattern(const lld::StringMatcher *matcher) {
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
/// The sections of a pattern that lld has still to ask for, by their names, and their numbers in
/// the front.
struct Awaited {
  std::vector<std::pair<const char *, std::optional<uint32_t>>> sections;
  size_t next = 0;

  bool isNext(const char *name) const {
    return next < sections.size() && sections[next].first == name;
  }
};

/// The pattern that lld is busy with. lld takes one after the other, in one thread, and moves no
/// matcher meanwhile.
struct CurrentPattern {
  const lld::StringMatcher *matcher = nullptr;
  std::optional<Pattern> ours;
  Awaited *awaited = nullptr; ///< null for the first of our patterns
};
} // namespace
static bool isPlacing; // in processSectionCommands
static CurrentPattern currentPattern;
/// For each pattern lld goes through the same sections in the same order, and leaves out those that
/// have a place by then. So the first of our patterns, which is asked for all sections, tells which
/// sections the others will get.
static std::array<Awaited, numPatterns> awaited;
static bool isAwaiting;
/// The sections that the first pattern has found to be ours, in the order of lld's list.
static std::vector<const char *> told;
/// The places of the current pattern's sections, by their names. lld sorts these sections before it
/// goes on, and asks for each of them dozens of times.
static DenseMap<const char *, uint32_t> orders;
/// The two sections that lld asked for last. It compares two, then one of them with another.
static std::array<std::pair<const char *, uint32_t>, 2> lastOrders;
static unsigned olderOrder; // its index in lastOrders

/// To be called when lld has got all sections of a pattern, and has sorted them.
static void checkSorted() {
  if (orders.size() > 1)
    hookCalls.require(Hook::GetPriority);
}

/// To be called when the first of our patterns has been asked for all sections.
static void shortenList() {
  // The one name in the script that lld itself matches: plan/front_script.cpp.
  sectionList.shorten(told, ".bss.rel.ro");
  told.clear();
}

static CurrentPattern recognize(const lld::StringMatcher *matcher) {
  CurrentPattern result{matcher, ownPattern(matcher)};
  if (result.ours)
    hookCalls.note(Hook::Match);
  if (result.ours && std::exchange(isAwaiting, true)) {
    result.awaited = &awaited[static_cast<unsigned>(*result.ours)];
    shortenList();
  }
  return result;
}

/// Gives a section of the current pattern its place in it.
static void placeSection(StringRef name, std::optional<uint32_t> number) {
  if (number)
    orders.try_emplace(name.data(), frontLink->place(*number));
}

/// Whether the section belongs to the first of our patterns. Notes those of other patterns.
static bool matchesFirst(StringRef name) {
  auto [pattern, number] = frontLink->meet(name);
  if (!pattern)
    return false;
  told.push_back(name.data());
  if (pattern == currentPattern.ours)
    placeSection(name, number);
  else
    awaited[static_cast<unsigned>(*pattern)].sections.emplace_back(name.data(), number);
  return pattern == currentPattern.ours;
}

/// Whether lld has asked for all awaited sections: another lld may have another order.
static bool hasAskedForAll() {
  return llvm::all_of(awaited, [](const Awaited &a) { return a.next == a.sections.size(); });
}

/// The strings of startup, while strings are being cut.
static HotStrings *hotStrings;

uint64_t wrapXxh3(ArrayRef<uint8_t> data) {
  uint64_t hash = realXxh3(data);
  if (!hotStrings)
    return hash;
  hookCalls.note(Hook::Hash);
  return hotStrings->meet(hash);
}

static void splitSections(lld::elf::Ctx &ctx, void (*real)(lld::elf::Ctx &)) {
  hookCalls.count(Hook::SplitSections);
  sectionList.endSearch();
  if (awaitLink) {
    hookCalls.requireOnce(Hook::ParseFiles);
    if (hasReadObject)
      hookCalls.require(Hook::CreateObjFile);
    addObjects();
    // As late as possible: link-time optimization is over, and until here lld is busy with symbols,
    // mostly in one thread.
    frontLink->finishPlanning();
    laterScript = frontLink->laterScript();
    realReadLinkerScript(ctx, MemoryBufferRef(laterScript, "<frontload>"));
    if (frontLink->gathersStrings())
      hotStrings = &frontLink->hotStrings();
  }
  real(ctx);
  hotStrings = nullptr;
}

void wrapSplitSections32LE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections32LE); }
void wrapSplitSections64LE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections64LE); }
void wrapSplitSections32BE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections32BE); }
void wrapSplitSections64BE(lld::elf::Ctx &ctx) { splitSections(ctx, realSplitSections64BE); }

void wrapProcessSectionCommands(void *linkerScript) {
  if (!awaitLink)
    return realProcessSectionCommands(linkerScript);
  hookCalls.count(Hook::ProcessSectionCommands);
  hookCalls.requireOnce(Hook::SplitSections);
  isPlacing = true;
  realProcessSectionCommands(linkerScript);
  checkSorted();
  sectionList.restore();
  isPlacing = false;
  currentPattern = CurrentPattern(); // its matcher may be gone, and another one in its place
  if (hasNote)
    hookCalls.require(Hook::Match);
  if (!hasAskedForAll())
    endLink(exitVerdict, "the sections of the front are not all placed",
            "please report this; link without --startup-profile until it is fixed");
  frontLink->finish();
  if (int code = tellMatches(*frontLink, minMatch))
    lld::exitLld(code);
}

bool wrapMatch(const lld::StringMatcher *matcher, StringRef name) {
  // Nearly all calls end here: one for each section and each of our patterns but the first.
  if (currentPattern.matcher == matcher && currentPattern.awaited &&
      !currentPattern.awaited->isNext(name.data()))
    return false;
  if (!isPlacing)
    return realMatch(matcher, name);
  if (currentPattern.matcher != matcher) {
    checkSorted();
    currentPattern = recognize(matcher);
    orders.clear();
    lastOrders = {};
  }
  if (!currentPattern.ours)
    return realMatch(matcher, name);
  Awaited *ours = currentPattern.awaited;
  if (!ours)
    return matchesFirst(name);
  if (!ours->isNext(name.data()))
    return false;
  placeSection(name, ours->sections[ours->next++].second);
  return true;
}

int wrapGetPriority(StringRef name) {
  if (!isPlacing)
    return realGetPriority(name);
  for (unsigned i : {0, 1})
    if (lastOrders[i].first && lastOrders[i].first == name.data()) {
      olderOrder = 1 - i;
      return int(lastOrders[i].second);
    }
  auto order = orders.find(name.data());
  if (order == orders.end())
    return realGetPriority(name);
  hookCalls.note(Hook::GetPriority);
  if (!told.empty() && !currentPattern.awaited)
    shortenList();
  lastOrders[olderOrder] = *order;
  olderOrder = 1 - olderOrder;
  return int(order->second);
}

void frontload::listInput(const std::string &path) {
  if (sys::fs::is_regular_file(path)) // a pipe can be read only once
    listedInput = path;
}

void frontload::installHooks(std::function<FrontLink &()> link, double minPercent,
                             std::function<int(const LinkInputs &)> instead) {
  awaitLink = std::move(link);
  minMatch = minPercent;
  insteadOfLink = std::move(instead);
}
