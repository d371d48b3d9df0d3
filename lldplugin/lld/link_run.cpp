// A run of lld that makes a front, phase by phase.
#include "lld/link_run.h"
#include "lld/Common/ErrorHandler.h"
#include "lld/hook_calls.h"
#include "lld/lld_symbols.h"
#include "plan/front_note.h"
#include "plan/front_script.h"
#include "plan/other_script.h"
#include "program/diagnostics.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace frontload {

/// lld goes through lists with fewer sections in no time, so they stay as they are.
static constexpr size_t minToShorten = 4096;

/// Ends the link before it has written anything.
[[noreturn]] static void endLink(int code, const Twine &message, const Twine &note) {
  error(message, note);
  lld::exitLld(code);
}

/// Looks at a linker script before lld does.
void LinkRun::checkScript(MemoryBufferRef mb) const {
  if (!decidesLayout(mb.getBuffer()))
    return;
  options.refuseScript(mb.getBufferIdentifier());
  endLink(exitUsage,
          mb.getBufferIdentifier() + ": a linker script that decides the layout cannot be "
                                     "combined with --startup-profile",
          "use one of the two; scripts with only GROUP, INPUT, VERSION and the like are fine");
}

std::optional<MemoryBufferRef> LinkRun::readFile(lld::elf::Ctx &ctx, StringRef path) {
  std::optional<MemoryBufferRef> buffer = realReadFile(ctx, path);
  if (!buffer)
    return buffer;
  file_magic magic = identify_magic(buffer->getBuffer());
  // lld takes a file of unknown format for a script.
  if (makesFront() && scriptDepth && magic == file_magic::unknown)
    checkScript(*buffer);
  if (magic == file_magic::elf_relocatable)
    hasReadObject = true;
  return buffer;
}

void LinkRun::addObject(lld::elf::Ctx &ctx, InputObject object) {
  if (!makesFront())
    return;
  gathered.push_back(object);
  if (awaitsNote)
    addNote(ctx, object.buffer.getBuffer());
}

void LinkRun::readScript(lld::elf::Ctx &ctx, MemoryBufferRef mb) {
  if (makesFront())
    checkScript(mb);
  ++scriptDepth;
  realReadLinkerScript(ctx, mb);
  --scriptDepth;
}

/// Tells the link of the objects that were created since the last time.
void LinkRun::addObjects() {
  for (const InputObject &object : std::exchange(gathered, {}))
    front->addObject(object);
}

/// Ends the link if lld has opened its inputs without calling the hooks for that.
void LinkRun::checkInputs() const {
  calls::parseFiles.require();
  if (calls::createObjFile.any())
    calls::readFile.require();
  // lld has tried whether it can write the output.
  calls::createOutput.require();
}

/// Gives lld an object with a blank note (front_note.h) to link, for the machine of `like`.
void LinkRun::addNote(lld::elf::Ctx &ctx, StringRef like) {
  awaitsNote = false;
  noteObject = makeNoteObject(like, front->linkTraits().copiesConstants);
  // Neither is freed: the link refers to them to its end.
  auto &owner = *new OwnedFile(realCreateObjFile(ctx, {noteObject, "<frontload>"}, "", false));
  auto &files = *new SmallVector<void *, 0>{owner.file};
  realParseFiles(ctx, &files);
}

void LinkRun::parseFiles(lld::elf::Ctx &ctx, const void *files) {
  if (makesFront()) {
    front = &options.awaitLink();
    addObjects();
    checkInputs();
  }
  if (sys::fs::is_regular_file(options.listed)) // a pipe can be read only once
    realReadFile(ctx, options.listed);
  if (!front)
    return realParseFiles(ctx, files);
  std::optional<MemoryBufferRef> like = front->firstObject();
  front->beginPlanning();
  script = symbolsScript();
  realReadLinkerScript(ctx, MemoryBufferRef(script, "<frontload>"));
  realParseFiles(ctx, files);
  if (like)
    addNote(ctx, like->getBuffer());
  else
    awaitsNote = hasBitcode;
  addObjects();
  placing.sections.beginSearch(ctx, minToShorten);
}

void LinkRun::splitSections(lld::elf::Ctx &ctx, void (*real)(lld::elf::Ctx &)) {
  placing.sections.endSearch();
  if (makesFront()) {
    calls::parseFiles.require();
    if (hasReadObject)
      calls::createObjFile.require();
    addObjects();
    // As late as possible: link-time optimization is over, and until here lld is busy with symbols,
    // mostly in one thread.
    if (front->linkTraits().isUntrained)
      front->noteLinked(placing.gather());
    front->finishPlanning();
    laterScript = front->script();
    realReadLinkerScript(ctx, MemoryBufferRef(laterScript, "<frontload>"));
    if (front->linkTraits().mergesStrings)
      hotStrings = &front->hotStrings();
  }
  real(ctx);
  hotStrings = nullptr;
  // Not before: until here hash() changes the hashes of names, too. lld now collects garbage, which
  // leaves a processor idle.
  if (!front)
    return;
  ArrayRef<const char *> names = placing.gather();
  front->beginTail(names);
  if (names.empty())
    return;
  windows = std::async(std::launch::async, [=, this] { return PlainWindows(*front, names); });
  placing.beginPicking(*front, [windows = windows, this] {
    windows.wait(); // they read the placement
    front->placeTail();
  });
}

uint64_t LinkRun::hash(uint64_t real) { return hotStrings ? hotStrings->meet(real) : real; }

/// Says how much of the profile the link has found. Without this, a profile that no longer fits
/// would silently cost users the front. Returns the exit code: less than `minMatch` percent fails.
static int tellMatches(const FrontLink &link, double minMatch) {
  if (link.linkTraits().isUntrained)
    return EXIT_SUCCESS;
  MatchVerdict verdict =
      link.account().matchSummary().judge(link.profilePath(), minMatch, "--min-match");
  if (verdict.isError)
    return refuse({verdict.text, verdict.note, exitVerdict});
  StringRef needed = link.linkTraits().packsRelocations
                         ? "; needs glibc 2.36 or newer, for packed relocations (without them: "
                           "-z nopack-relative-relocs)"
                         : "";
  // Not stdout: the report may go there.
  lld::message(programName + ": " + verdict.text + needed, errs());
  return EXIT_SUCCESS;
}

void LinkRun::placeSections(void *linkerScript) {
  if (!makesFront())
    return realProcessSectionCommands(linkerScript);
  calls::splitSections.require();
  placing.begin(*front);
  std::future<uint64_t> saves;
  if (placing.isShort())
    saves = std::async(std::launch::async, [&] {
      return windows.get().bytesSaved([&](uint32_t section) { return placing.isLive(section); });
    });
  realProcessSectionCommands(linkerScript);
  const uint64_t saved =
      saves.valid() ? saves.get()
                    : PlainWindows(*front, front->account().liveNames()).bytesSaved([](uint32_t) {
                        return true;
                      });
  if (placing.isShort() && !saved)
    front->account().setLinked(placing.liveNames());
  placing.end();
  if (!noteObject.empty())
    calls::match.require();
  if (!placing.hasAskedForAll())
    endLink(exitVerdict, "the sections of the front are not all placed",
            "please report this; link without --startup-profile until it is fixed");
  front->account().finish();
  if (int code = tellMatches(*front, options.minMatch))
    lld::exitLld(code);
  options.placed(*front, saved);
}

} // namespace frontload
