//===- front_link.h - one link with a front --------------------------------===//
//
// What ld.frontload does inside a link, by the phases of lld/link_run.cpp: gather the input
// objects, plan the front once all are known, and answer the linker: does a section belong to the
// front, and where in it. Afterwards it has counts of the placed sections.
//
// A section is known by the address of its name in the mapped object, which is all that a linker
// has in hand when it asks. Sections of one object that share the very name (all of .text, with
// -ffunction-sections -fno-unique-section-names) therefore go together.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_PLAN_FRONT_LINK_H
#define FRONTLOAD_LLDPLUGIN_PLAN_FRONT_LINK_H

#include "plan/expected_part.h"
#include "plan/front_script.h"
#include "plan/plain_layout.h"
#include "profile/match_summary.h"
#include "profile/startup_profile.h"
#include "startup_set/startup_set.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <array>
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
  /// How the linker tells sections apart.
  Selection selection = Selection::ByAnswer;
  /// The front's code, and the code behind the front, begin at a multiple of this, in bytes, in the
  /// file as in memory. 0: of nothing in particular.
  uint64_t frontAlign = 0;
  /// How it would lay out a file without a front.
  PlainTraits plain = {};
  /// Whether the program asks for its front when it starts.
  bool prefetches = false;
  /// Whether the loader may copy constants of shared libraries into the output: it is a program.
  bool copiesConstants = false;
  /// Whether relative relocations are packed though no option asks for it; each link reports it.
  bool packsRelocations = false;
};

class FrontLink {
public:
  /// `path` is where the profile came from, for messages.
  FrontLink(StartupProfile p, std::string path, LinkTraits traits);

  /// Takes note of a linker script among the inputs, which does not decide the layout.
  void addScript(llvm::StringRef script);
  /// Takes note of an input object.
  void addObject(InputObject object) { objects.push_back(object); }
  /// The first ELF object that is in the link in any case, else the first one: it tells what kind
  /// of file is linked.
  std::optional<llvm::MemoryBufferRef> firstObject() const;

  /// Begins to find the startup sections of the objects that were added, in all threads but one:
  /// lld spends the next while on the symbol table, which occupies one core.
  void beginPlanning();

  /// Waits for that, and finds the sections of objects that were added since, in all threads.
  void finishPlanning();
  /// Waits for beginPlanning(), for a link that ends before it plans any further.
  void awaitPlanner();

  /// The startup sections found so far, of each object in the order of addObject(), for a linker
  /// that is told the order instead of asking for it.
  llvm::ArrayRef<StartupSections> sections() const { return sectionsFound; }

  /// To be called if the linker will make objects of its inputs, and add them later.
  void expectObjects() { expectsObjects = true; }

  /// The linker script of symbols, which a linker reads before it looks for definitions.
  std::string script() const;
  /// The linker script that places the startup set, and sections that are not worth a place in the
  /// front. To be read after script(); available after finishPlanning().
  std::string laterScript();

  /// The output sections that are not worth a place in the front.
  OutputsBehind outputsBehind() const;
  /// By name of output sections: the bytes at the beginning that every run touches, at most. The
  /// front's other sections are wanted whole. To be called after finish().
  llvm::StringMap<uint64_t> wantedBytes() const;

  /// The parts of left-out sections that are to be read with the front, in the order of .rodata,
  /// which is that of first touch. To be called after finish().
  std::vector<ExpectedPart> expectedParts() const;

  /// The pattern of the script that the section with this name, by its address, belongs to.
  std::optional<Pattern> patternFor(llvm::StringRef name) const;
  /// Whether the section with this name is code of the front that every run enters: it lies before
  /// the rest of the front's code, and is read with it in any order.
  bool isCodeOfAllRuns(llvm::StringRef name) const;
  /// A section that is in the link.
  struct MetSection {
    std::optional<Pattern> pattern;
    std::optional<uint32_t> number; ///< for place(); none if not in the startup set
  };
  /// To be called once for each section of the link, fastest if each object's come in the order of
  /// its section table. A startup section without a pattern has its place by that.
  MetSection meet(llvm::StringRef name);

  /// All sections that the linker has asked about by meet(), with their places in the link.
  std::vector<PlacedSection> placedSections() const;
  /// How many sections the linker has asked about.
  size_t numMet() const { return met.size(); }
  /// The numbers of those sections that every run touches, as far as the profile names them.
  std::vector<uint32_t> metByAllRuns() const;
  /// The places of the profile's entries in the objects.
  const EntryPlaces &entryPlaces() const { return startupSet.entryPlaces(); }

  /// To be called, after finishPlanning(), when a startup section is in the link and gets the place
  /// of its pattern or, without one, goes with all of its class. Returns its number in the pattern,
  /// in first-touch order; none for strings. Only copies (of one name and one rank, in several
  /// objects) share a number, so the order does not depend on which copy the link keeps, or on how
  /// the linker breaks ties.
  std::optional<uint32_t> place(llvm::StringRef name);
  /// The same by the `number` that meet() has returned.
  uint32_t place(uint32_t number);

  /// A section for a linker that finds sections by marks in their names.
  struct PlannedSection {
    const char *name;
    uint32_t object; ///< its number, in the order of addObject()
    /// None if it goes with its class, without an order.
    std::optional<Pattern> pattern;
    uint32_t order; ///< in the pattern, from 0, as for place()
  };
  /// All startup sections and those that are next, in no particular order.
  std::vector<PlannedSection> plannedSections() const;
  /// To be called when the section with this name cannot be moved, after all.
  void keepPlace(llvm::StringRef name);

  /// To be called when all sections have their place: adds up the results below.
  void finish();
  /// To be called after finish() when the linker has folded the section with this name into another
  /// one, which then counts alone.
  void fold(llvm::StringRef name);
  /// To be called when the hot strings of the output have been counted.
  void finishStrings();
  bool isFinished() const { return !states.empty(); }

  HotStrings &hotStrings() { return startupSet.hotStrings(); }
  bool gathersStrings() const { return traits.mergesStrings; }
  bool copiesConstants() const { return traits.copiesConstants; }

  /// What was placed in the front, per section class.
  struct Placed {
    uint64_t sections = 0;
    uint64_t referred = 0; ///< of those, the ones that the profile does not name
    uint64_t bytes = 0;

    Placed &operator+=(const Placed &other) {
      sections += other.sections;
      referred += other.referred;
      bytes += other.bytes;
      return *this;
    }
    Placed &operator-=(const Placed &other) {
      sections -= other.sections;
      referred -= other.referred;
      bytes -= other.bytes;
      return *this;
    }
  };
  const Placed &placed(SectionClass c) const { return sums[static_cast<unsigned>(c)]; }
  /// The number of objects with sections in the front.
  uint64_t placedObjects() const { return contributors.size(); }
  /// The number of sections that are in the link and keep their place.
  uint64_t keptSections() const { return numKeptSections; }

  /// What became of a profile entry.
  enum class EntryState : uint8_t {
    NotDefined, ///< no input defines it: it is gone, or in a shared library
    Unused,     ///< defined in an input, but the link does not need it
    Unmovable,  ///< defined in a section that keeps its place (.init, COMMON, ...)
    LeftOut,    ///< not worth a place in the front: follows the front
    Placed,
  };
  llvm::ArrayRef<EntryState> entryStates() const { return states; }
  uint64_t count(EntryState state) const { return llvm::count(states, state); }

  /// How many of the entries that can be placed at all are found; to be called after finish().
  MatchSummary matchSummary() const;
  /// How each entry was found.
  const FoundNames &foundNames() const { return startupSet.foundNames(); }

  const StartupProfile &startupProfile() const { return profile; }
  /// Whether an input defines `_end` itself.
  bool definesEnd() const { return isEndAssigned || startupSet.definesEnd(); }

  const std::string &profilePath() const { return pathOfProfile; }
  const LinkTraits &linkTraits() const { return traits; }

private:
  /// The startup sections of one object that share a name.
  struct Known {
    const char *name;
    uint32_t rank;
    uint32_t object; ///< its number, in the order of addObject()
    uint32_t index;  ///< of the first of them
    SectionClass sectionClass;
    Region region;
    bool isPlaced;
    bool keepsPlace;
    uint32_t order;    ///< in its pattern
    uint32_t position; ///< in `met`
    Placed contents;
  };

  void plan(llvm::ArrayRef<InputObject> begun, unsigned threads);
  void take(std::vector<StartupSections> found);
  void putInOrder();
  PatternSet neededPatterns() const;
  std::optional<Pattern> usedPatternOf(const Known &k) const;
  std::optional<Pattern> patternOfUnknown(llvm::StringRef name) const;
  llvm::ArrayRef<StartupSection> sectionsOf(const Known &k) const;
  /// The number in `known` of the section with this name; none if it is not known.
  std::optional<uint32_t> numberOf(llvm::StringRef name) const;

  StartupProfile profile;
  std::string pathOfProfile;
  LinkTraits traits;
  uint32_t firstTier;  ///< the first rank that not every run touches
  PatternSet patterns; ///< those that the script uses
  bool hasScript = false;
  StartupSet startupSet;
  bool isEndAssigned = false; ///< by a script
  std::vector<InputObject> objects;
  std::vector<llvm::StringRef> inputBytes;
  std::vector<bool> isOurs; ///< by object, whether it is code that prefetches the front
  bool expectsObjects = false;
  std::thread planner;
  std::vector<StartupSections> sectionsFound;
  std::vector<Known> known;                       ///< by object, and by index
  llvm::DenseMap<const char *, uint32_t> numbers; ///< in `known`
  NameFilter knownNames{1 << 20};
  std::vector<uint32_t> placeNumbers; ///< in `known`, of each of the set's movable places
  std::vector<const char *> met;      ///< the names of all sections of the link, in its order
  uint32_t afterMet = 0;              ///< behind the number of the last met known section

  std::array<Placed, numSectionClasses> sums = {};
  llvm::DenseMap<uint32_t, uint64_t> contributors; ///< how many sections each object has placed
  uint64_t numKeptSections = 0;
  std::vector<EntryState> states;
};

} // namespace frontload

#endif
