//===- front_link.h - one link with a front --------------------------------===//
//
// What ld.frontload does inside a link, apart from how it gets there (lld/lld_hooks.cpp): gather
// the input objects, plan the front once all are known, and answer the linker's questions: does a
// section belong to the front, and where in it. Afterwards it knows what was placed.
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
  /// What the front's code begins at a multiple of, in bytes, in the file as in memory; and the
  /// code behind the front. 0: of nothing in particular.
  uint64_t frontAlign = 0;
  /// How it would lay out a file without a front.
  PlainTraits plain = {};
  /// Whether the program asks for its front when it starts.
  bool prefetches = false;
  /// Whether the loader may copy constants of shared libraries into the output: it is a program.
  bool copiesConstants = false;
  /// Whether relative relocations are packed though nobody has said so; every link tells.
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
  /// The first of them that is in the link in any case, if there is one, else the first: it tells
  /// what kind of file is linked.
  std::optional<llvm::MemoryBufferRef> firstObject() const;

  /// The bytes of all objects that were planned with.
  llvm::ArrayRef<llvm::StringRef> inputs() const { return inputBytes; }

  /// Begins to find the startup sections of the objects that were added, in all threads but one:
  /// lld spends the next while on the symbol table, which occupies one core.
  void beginPlanning();

  /// Waits for that, and finds those of the objects that were added since, in all threads.
  void finishPlanning();
  /// Waits for what beginPlanning() began, for a link that ends before it plans any further.
  void awaitPlanner();

  /// What was found so far, for a linker that is told the order instead of asking for it: for each
  /// object, in the order in which they were added, its startup sections.
  llvm::ArrayRef<StartupSections> sections() const { return sectionsFound; }

  /// To be called if the linker will make objects of what it has read, and add them later.
  void expectObjects() { expectsObjects = true; }

  /// The linker script of symbols, which a linker reads before it looks for definitions.
  std::string script() const;
  /// Another one, to be read after it, that places sections: those of the startup set, and what is
  /// not worth a place in the front. After finishPlanning().
  std::string laterScript();

  /// The output sections that are not worth a place in the front.
  OutputsBehind outputsBehind() const;
  /// How many bytes of output sections, by name, every run touches, at most, which are their first.
  /// Of the front's other sections that is all. To be called after finish().
  llvm::StringMap<uint64_t> wantedBytes() const;

  /// What is to be read with the front of what is left out of it, in the order in which it lies in
  /// .rodata, which is that of first touch. To be called after finish().
  std::vector<ExpectedPart> expectedParts() const;

  /// The pattern of the script that the section with this name, by its address, belongs to.
  std::optional<Pattern> patternFor(llvm::StringRef name) const;
  /// Whether the section with this name is code of the front that every run enters: it lies before
  /// the rest of the front's code, and is read with it in any order.
  bool isCodeOfAllRuns(llvm::StringRef name) const;
  /// A section that is in the link.
  struct MetSection {
    std::optional<Pattern> pattern;
    std::optional<uint32_t> number; ///< for place(); none of what is not in the startup set
  };
  /// To be called once for each section of the link, which is soonest if each object's come in the
  /// order of its section table. One of the startup set that has no pattern has got its place by
  /// that.
  MetSection meet(llvm::StringRef name);

  /// All sections that the linker has asked about by meet(): where they are in the link.
  std::vector<PlacedSection> placedSections() const;
  /// How many sections it has asked about.
  size_t numMet() const { return met.size(); }
  /// Those of them, by their numbers, that every run touches, as far as the profile names them.
  std::vector<uint32_t> metByAllRuns() const;
  /// The places of the profile's entries in the objects.
  const EntryPlaces &entryPlaces() const { return startupSet.entryPlaces(); }

  /// To be called when such a section is in the link and gets the place of its pattern, or, without
  /// one, goes with all of its class; after finishPlanning(). Returns where in the pattern, in
  /// first-touch order; none of strings. Of different sections only copies (of one name and one
  /// rank, in several objects) have the same: that does not depend on which of them the link keeps,
  /// or on how the linker breaks ties.
  std::optional<uint32_t> place(llvm::StringRef name);
  /// The same, of the section that meet() has told the number of.
  uint32_t place(uint32_t number);

  /// What a linker has to know that finds sections by marks in their names.
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

  /// To be called when all sections have their place: adds up what follows.
  void finish();
  /// To be called after that when the linker has folded the section with this name into another
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
  /// The number of objects that it came from.
  uint64_t placedObjects() const { return contributors.size(); }
  /// The number of sections that are in the link and keep their place.
  uint64_t keptSections() const { return numKeptSections; }

  /// What became of a profile entry.
  enum class EntryState : uint8_t {
    NotDefined, ///< no input defines it: it is gone, or in a shared library
    Unused,     ///< defined in an input, but the link does not need it
    Unmovable,  ///< defined in a section that keeps its place (.init, COMMON, ...)
    LeftOut,    ///< not worth a place in the front: it follows it
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
  /// The number in `known` of the section with this name; none if it is none of them.
  std::optional<uint32_t> numberOf(llvm::StringRef name) const;

  StartupProfile profile;
  std::string pathOfProfile;
  LinkTraits traits;
  uint32_t firstTier;  ///< the rank behind those of what every run touches
  PatternSet patterns; ///< those that the script uses
  bool hasScript = false;
  StartupSet startupSet;
  bool isEndAssigned = false; ///< by a script
  std::vector<InputObject> objects;
  std::vector<llvm::StringRef> inputBytes;
  std::vector<bool> isOurs; ///< by the same number, whether it is of what prefetches the front
  bool expectsObjects = false;
  std::thread planner;
  std::vector<StartupSections> sectionsFound;
  std::vector<Known> known;                       ///< by object, and by index
  llvm::DenseMap<const char *, uint32_t> numbers; ///< in `known`
  NameFilter knownNames{1 << 20};
  std::vector<uint32_t> placeNumbers; ///< in `known`, of each of the set's movable places
  std::vector<const char *> met;      ///< the names of all sections of the link, in its order
  uint32_t afterMet = 0; ///< the number behind that of the known section that was met last

  std::array<Placed, numSectionClasses> sums = {};
  llvm::DenseMap<uint32_t, uint64_t> contributors; ///< how many sections each object has placed
  uint64_t numKeptSections = 0;
  std::vector<EntryState> states;
};

} // namespace frontload

#endif
