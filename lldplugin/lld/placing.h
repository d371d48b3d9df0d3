// lld gives the sections of the front their places.
//
// For each pattern of a script lld asks about all sections, and then sorts those that match. Our
// patterns are answered by the address of a section's name. lld does all of this in one thread.
//
// In a large link, another thread picks out the sections that may belong to the front while lld
// collects garbage, and sorts them. lld then goes through these alone. In other links the first of
// our patterns is asked about every section, and so tells which sections the others will get.
#pragma once

#include "lld/section_list.h"
#include "plan/front_link.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <future>
#include <optional>
#include <utility>
#include <vector>

namespace lld {
class StringMatcher;
} // namespace lld

namespace frontload {

class Placing {
public:
  /// lld's list of all sections, to be found before lld places them.
  SectionList sections;

  /// Takes lld's list as it is now. Returns the names of its sections; none if it is not known.
  llvm::ArrayRef<const char *> gather();
  /// Begins to pick out the front's sections of the list that was taken; `before` comes first.
  void beginPicking(const FrontLink &link, std::function<void()> before);

  /// lld begins to place sections, and has placed them. Between these calls it asks the next two.
  void begin(FrontLink &link);
  void end();
  bool isOn() const { return front; }
  /// Between these calls: whether lld's list has only the picked sections.
  bool isShort() const { return numShort; }
  /// While it has: whether the section whose name has this number is in the link.
  bool isLive(uint32_t number) const { return headOfSection(gathered[number]).isLive(); }
  /// The names of all sections in the link.
  std::vector<const char *> liveNames() const;

  /// Whether a section matches a pattern; none of a pattern that is not ours.
  std::optional<bool> matches(const lld::StringMatcher *matcher, llvm::StringRef name);
  /// The number by which lld sorts a section in the current pattern; none of a section that is not
  /// of the front.
  std::optional<int> order(llvm::StringRef name);

  /// Whether lld has asked about all sections of the front: another lld may have another order.
  bool hasAskedForAll() const;

private:
  /// One of lld's sections that belongs to the front, or has its place in our script.
  struct Picked {
    const void *section;
    llvm::StringRef name;
    std::optional<Pattern> pattern;
    std::optional<uint32_t> number; ///< of a startup section
    uint32_t order;                 ///< in the pattern
  };
  /// The sections of a pattern that lld has still to ask for, by their names; and their numbers in
  /// the front, if they have no place yet.
  struct Awaited {
    std::vector<std::pair<const char *, std::optional<uint32_t>>> sections;
    size_t next = 0;

    bool isNext(const char *name) const {
      return next < sections.size() && sections[next].first == name;
    }
  };
  /// The pattern that lld is busy with. lld moves no matcher meanwhile.
  struct Current {
    const lld::StringMatcher *matcher = nullptr;
    std::optional<Pattern> ours;
    Awaited *awaited = nullptr; ///< null for a pattern that is asked about every section
  };

  Current recognize(const lld::StringMatcher *matcher);
  bool matchesFirst(llvm::StringRef name);
  void place(llvm::StringRef name, std::optional<uint32_t> number);
  void checkPattern();
  void pick(const Placement &placement, llvm::ArrayRef<const void *> from);
  void shortenList(const Placement &placement);

  FrontAccount *front = nullptr;   ///< while lld places sections
  SectionList::Sections gathered;  ///< lld's list when it was taken
  std::vector<const char *> names; ///< of these sections
  std::vector<Picked> picked;
  std::future<void> picking;
  size_t numShort = 0;     ///< how many sections of lld's list are in the link, if it is short
  size_t numAsked = 0;     ///< for the current pattern
  bool hasChecked = false; ///< whether the two were compared, for the first pattern
  bool knowsLive = true;   ///< and were the same
  Current current;
  std::array<Awaited, numPatterns> awaited;
  bool isAwaiting = false; ///< whether it is known which sections our patterns will get
  /// The places of the current pattern's sections, by their names.
  llvm::DenseMap<const char *, uint32_t> orders;
};

} // namespace frontload
