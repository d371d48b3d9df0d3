// Where each section of a front goes.
//
// The startup set as a linker places it: each section has a pattern of the script (front_script.h),
// and a place in it, in first-touch order.
//
// A section is known by the address of its name in the mapped object, which is all that a linker
// has in hand when it asks. Sections of one object that share the very name (all of .text, with
// -ffunction-sections -fno-unique-section-names) therefore go together.
#pragma once

#include "names/name_hashes.h"
#include "plan/front_script.h"
#include "startup_set/startup_set.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace frontload {

/// How many sections, and how large they are.
struct SectionSum {
  uint64_t sections = 0;
  uint64_t referred = 0; ///< of those, the ones that the profile does not name
  uint64_t bytes = 0;
  uint64_t padding = 0; ///< that their alignment needs, at most

  SectionSum &operator+=(const SectionSum &other) {
    sections += other.sections;
    referred += other.referred;
    bytes += other.bytes;
    padding += other.padding;
    return *this;
  }
  SectionSum operator-() const { return {-sections, -referred, -bytes, -padding}; }
};

/// The startup sections of one object that share a name, and their place.
struct PlannedSection {
  const char *name;
  uint32_t object; ///< its number, in the order of the objects
  uint32_t index;  ///< of the first of them
  SectionClass sectionClass;
  Region region;
  /// The entry of the profile that needs them first; the number of entries if none does.
  uint32_t entry;
  SectionSum sum = {};
  /// Without one, they go with their class, without an order.
  std::optional<Pattern> pattern = {};
  /// In the pattern, from 0. Only copies (of one name and one entry, in several objects) share a
  /// number, so the order does not depend on which copy the link keeps, or on how the linker breaks
  /// ties.
  uint32_t order = 0;
};

/// It grows while a link is planned, and then stays as it is.
class Placement {
public:
  /// Every run touches the entries of the profile before `endOfAll`. `some` are the patterns that
  /// the script may have.
  Placement(uint32_t endOfAll, PatternSet some) : endOfFirstTier(endOfAll), patterns(some) {}

  /// Adds what was found in the next objects. `ordersRelro` is whether .data.rel.ro gets a pattern.
  void add(std::vector<StartupSections> more, bool ordersRelro);

  /// Adds the tails of all objects so far.
  void addTails(std::vector<StartupSections> tails);

  bool uses(Pattern pattern) const { return patterns[static_cast<unsigned>(pattern)]; }
  /// The patterns that have sections: each costs a hundredth of the link.
  PatternSet neededPatterns() const;

  /// By object, and by index.
  llvm::ArrayRef<PlannedSection> sections() const { return planned; }
  /// The startup sections of each object.
  llvm::ArrayRef<StartupSections> byObject() const { return found; }
  /// The number in sections() of the section with this name, by its address; none if it is no
  /// startup section.
  std::optional<uint32_t> numberOf(const char *name) const;
  /// The pattern of a section with this name that is no startup section.
  std::optional<Pattern> patternOfOther(llvm::StringRef name) const {
    return uses(Pattern::Strings) && isStringSection(name) ? std::optional(Pattern::Strings)
                                                           : std::nullopt;
  }
  bool isOfAllRuns(const PlannedSection &section) const { return section.entry < endOfFirstTier; }

private:
  void addSection(uint32_t object, const StartupSection &section);
  void putInOrder();

  const uint32_t endOfFirstTier;
  PatternSet patterns;
  std::vector<StartupSections> found;
  std::vector<PlannedSection> planned;
  llvm::DenseMap<const char *, uint32_t> numbers;
  NameFilter names{1 << 20};
};

} // namespace frontload
