// A run of lld that makes a front, phase by phase.
//
// lld is a library here, without a plugin interface. It calls some of its functions through hooks
// (lld_hooks.cpp), which only hand the calls on to the link that runs. lld makes these calls phase
// by phase, in the order of the members of LinkRun:
//
//   gather  lld opens its inputs
//   plan    all inputs are open: the profile's names are matched, and the startup set is decided,
//           in other threads. It is complete when link-time optimization is over
//   place   lld gives sections to output sections, those of the front in first-touch order
//   judge   all sections have a place, and nothing is written: the last moment to refuse the link,
//           or to link without a front
//
// What follows is in main.cpp: lld writes the output, which is checked, and gets its note, and
// then takes its place with the report.
#pragma once

#include "lld/placing.h"
#include "plan/plain_windows.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

namespace lld::elf {
struct Ctx;
} // namespace lld::elf

namespace frontload {

class LinkRun {
public:
  struct Options {
    /// The link, whose profile may still be read; asked for once lld has opened its inputs. Without
    /// it, the output has no front.
    std::function<FrontLink &()> awaitLink = {};
    /// Called with the path of a linker script that decides the layout, before the link fails. May
    /// end the process.
    std::function<void(llvm::StringRef)> refuseScript = {};
    /// The link fails if less than this percentage of the profile's names is found.
    double minMatch = 0;
    /// Called when all sections have a place, and nothing is written, with the bytes that the front
    /// saves for certain (plan/plain_windows.h). May end the process.
    std::function<void(const FrontLink &, uint64_t saved)> placed = {};
    /// A file that is an input like others, so that --dependency-file and --reproduce list it.
    std::string listed = {};
  };
  explicit LinkRun(Options o) : options(std::move(o)) {}

  bool makesFront() const { return bool(options.awaitLink); }

  // Gather.
  std::optional<llvm::MemoryBufferRef> readFile(lld::elf::Ctx &ctx, llvm::StringRef path);
  void addObject(lld::elf::Ctx &ctx, InputObject object);
  void noteBitcode() { hasBitcode = true; }
  void readScript(lld::elf::Ctx &ctx, llvm::MemoryBufferRef mb);

  // Plan.
  void parseFiles(lld::elf::Ctx &ctx, const void *files);
  void splitSections(lld::elf::Ctx &ctx, void (*real)(lld::elf::Ctx &));
  /// The hash of a string while strings are cut, by which lld sorts it.
  uint64_t hash(uint64_t real);

  // Place.
  void placeSections(void *linkerScript);
  Placing placing;

  /// The link, once lld has opened its inputs.
  FrontLink *link() { return front; }

private:
  void checkScript(llvm::MemoryBufferRef mb) const;
  void addObjects();
  void checkInputs() const;
  void addNote(lld::elf::Ctx &ctx, llvm::StringRef like);

  const Options options;
  FrontLink *front = nullptr;
  std::vector<InputObject> gathered; ///< since the last addObjects()
  bool hasReadObject = false;        ///< as a file of the command line
  bool hasBitcode = false;
  /// Whether link-time optimization makes the first object, which the note has to be like.
  bool awaitsNote = false;
  /// How deeply linker scripts are nested. lld reads files that they INCLUDE by readFile() alone.
  unsigned scriptDepth = 0;
  // lld keeps references into the next three.
  std::string script, laterScript, noteObject;
  HotStrings *hotStrings = nullptr;         ///< while strings are cut
  std::shared_future<PlainWindows> windows; ///< if the sections of lld's list are being picked
};

/// Lets `run` take part in the next run of lld's driver, which it must outlive: defined with the
/// hooks, which do nothing else than lld's functions where there is no such link.
void installHooks(LinkRun &run);

} // namespace frontload
