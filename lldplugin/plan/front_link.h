// One link with a front.
//
// What a linker with fronts does inside a link: it gathers the input objects, plans the front once
// all are known, places sections by the plan (placement.h), and gives an account of what came of it
// (front_account.h). The script is made of the plan as well.
#pragma once

#include "plan/front_account.h"
#include "plan/placement.h"
#include "profile/startup_profile.h"
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace frontload {

/// What the command line says of a link, as far as it matters to the front.
struct LinkTraits {
  /// Whether equal strings are merged, and nothing more: at -O0 they are not, and at -O2 strings
  /// that end alike share their ends.
  bool mergesStrings = true;
  /// Whether the linker keeps one of several identical functions: --icf.
  Folding folding = Folding::None;
  /// Whether the output is position-independent, so that the loader relocates its data.
  bool isRelocated = false;
  /// The code begins at a multiple of this, in bytes, in the file as in memory. 0: of nothing in
  /// particular.
  uint64_t frontAlign = 0;
  /// -z max-page-size; 0: what lld has for the machine.
  uint64_t maxPage = 0;
  /// Whether the program asks for its front when it starts.
  bool prefetches = false;
  /// Whether the loader may copy constants of shared libraries into the output: it is a program.
  bool copiesConstants = false;
  /// Whether the profile is the general one (profile/general_profile.h).
  bool isUntrained = false;
  /// Whether relative relocations are packed though no option asks for it; each link reports it.
  bool packsRelocations = false;
};

class FrontLink {
public:
  /// `path` is where the profile came from, for messages.
  FrontLink(StartupProfile p, std::string path, LinkTraits traits);

  /// Takes note of an input object.
  void addObject(InputObject object) { objects.push_back(object); }
  /// The first ELF object that is in the link in any case, else the first one: it tells what kind
  /// of file is linked.
  std::optional<llvm::MemoryBufferRef> firstObject() const;
  /// Notes that the objects with these names of sections are linked, also those that are linked
  /// only if needed.
  void noteLinked(llvm::ArrayRef<const char *> names);
  /// The bytes of all objects that were planned with.
  llvm::ArrayRef<llvm::StringRef> inputs() const { return inputBytes; }

  /// Begins to find the startup sections of the objects that were added, in all threads but one:
  /// lld spends the next while on the symbol table, which occupies one core.
  void beginPlanning();

  /// Waits for that, and finds the sections of objects that were added since, in all threads.
  void finishPlanning();
  /// Begins to find what follows the front, after finishPlanning() and script(). `linked` are the
  /// names of all sections in the link, if they are known.
  void beginTail(llvm::ArrayRef<const char *> linked = {});
  /// Waits for that, and adds what was found to placement().
  void placeTail();
  /// Waits for what has begun, for a link that ends before it plans any further.
  void awaitPlanner();

  /// The linker script that places the startup set, and sections that are not worth a place in the
  /// front. To be read after symbolsScript(); available after finishPlanning().
  std::string script() const;

  /// The output sections that are not worth a place in the front.
  OutputsBehind outputsBehind() const;
  /// Where each section goes; complete after placeTail().
  const Placement &placement() const { return planned; }
  /// What became of it.
  FrontAccount &account() { return counted; }
  const FrontAccount &account() const { return counted; }
  /// The places of the profile's entries in the objects.
  const EntryPlaces &entryPlaces() const { return startupSet.entryPlaces(); }
  /// How each entry was found.
  const FoundNames &foundNames() const { return startupSet.foundNames(); }

  HotStrings &hotStrings() { return startupSet.hotStrings(); }

  const StartupProfile &startupProfile() const { return profile; }
  const std::string &profilePath() const { return pathOfProfile; }
  const LinkTraits &linkTraits() const { return traits; }

private:
  void plan(llvm::ArrayRef<InputObject> begun, unsigned threads);

  StartupProfile profile;
  std::string pathOfProfile;
  LinkTraits traits;
  std::vector<InputObject> objects;
  std::vector<llvm::StringRef> inputBytes;
  std::thread planner;
  std::future<std::vector<StartupSections>> tail;
  StartupSet startupSet;
  Placement planned;
  FrontAccount counted;
};

} // namespace frontload
