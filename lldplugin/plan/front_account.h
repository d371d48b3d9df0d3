// What became of a front in its link.
//
// A plan has sections that the link drops, or cannot move. This notes which sections the linker
// asks about and places, and counts at the end what the front has, and what was found of the
// profile.
#pragma once

#include "plan/placement.h"
#include "profile/match_summary.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include <array>
#include <utility>

namespace frontload {

/// What became of a profile entry.
enum class EntryState : uint8_t {
  NotDefined, ///< no input defines it: it is gone, or in a shared library
  Unused,     ///< defined in an input, but the link does not need it
  Unmovable,  ///< defined in a section that keeps its place (.init, COMMON, ...)
  LeftOut,    ///< not worth a place in the front: follows the front
  Placed,
};

class FrontAccount {
public:
  /// All must outlive the account.
  FrontAccount(const StartupProfile &p, StartupSet &s, const Placement &planned)
      : profile(p), startupSet(s), placement(planned) {}

  // While the linker places sections, after planning.

  /// To be called once for each section of the link, or setLinked() once. Returns the pattern of
  /// the section with this name, and its number in the placement; a startup section without a
  /// pattern has its place by that.
  std::pair<std::optional<Pattern>, std::optional<uint32_t>> meet(llvm::StringRef name);
  /// `names` are those of all sections in the link, in its order.
  void setLinked(std::vector<const char *> names) { met = std::move(names); }
  /// To be called when a startup section is in the link, and gets its place. Returns its order.
  uint32_t place(uint32_t number);
  /// The same by its name, which may be that of another section.
  void place(const char *name);
  /// To be called when all sections have their place: adds up the results below.
  void finish();
  bool isFinished() const { return !states.empty(); }
  /// To be called after finish() when the linker has folded the section with this name into another
  /// one, which then counts alone.
  void fold(const char *name);
  /// To be called when the hot strings of the output have been counted.
  void finishStrings();

  // After finish().

  /// The names of all sections in the link, in its order.
  llvm::ArrayRef<const char *> liveNames() const { return met; }
  /// By name of output sections: the bytes at the beginning that every run touches, at most. The
  /// front's other sections are wanted whole.
  llvm::StringMap<uint64_t> wantedBytes() const;
  /// By name of output sections: where the tail lies in them (startup_set/likely_sections.h), from
  /// the beginning, or in .text from the end of the front's code. The padding is an estimate.
  llvm::StringMap<Stretch> tail() const;
  /// The parts of left-out sections that are to be read with the front, in the order of .rodata,
  /// which is that of first touch.
  std::vector<ExpectedPart> expectedParts() const;

  /// What was placed in the front of a section class.
  const SectionSum &placed(SectionClass c) const { return sums[static_cast<unsigned>(c)]; }
  /// The number of objects with sections in the front.
  uint64_t placedObjects() const { return contributors.size(); }
  llvm::ArrayRef<EntryState> entryStates() const { return states; }
  uint64_t count(EntryState state) const { return llvm::count(states, state); }
  /// How many of the entries that can be placed at all are found.
  MatchSummary matchSummary() const;

private:
  bool isInFront(uint32_t number) const {
    return isLive[number] && placement.sections()[number].region == Region::Front;
  }
  void setLive(uint32_t number);
  /// The sections of a number that the linker has not folded.
  const SectionSum &left(uint32_t number) const;

  const StartupProfile &profile;
  StartupSet &startupSet;
  const Placement &placement;
  std::vector<const char *> met; ///< the names of all sections of the link, in its order
  std::vector<bool> isLive;      ///< by number: in the link
  std::array<SectionSum, numSectionClasses> sums = {};
  llvm::DenseMap<uint32_t, SectionSum> unfolded;   ///< what is left where sections were folded
  llvm::DenseMap<uint32_t, uint64_t> contributors; ///< how many sections each object has placed
  std::vector<EntryState> states;
};

} // namespace frontload
