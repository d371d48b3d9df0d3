//===- placing.h - lld gives the sections of the front their places --------===//
//
// For each pattern of a script lld asks about all sections that have no place yet, in the same
// order, and then sorts those that match. Our patterns are answered by the address of a section's
// name: the first of our patterns is asked about every section, and so tells which sections the
// others will get. lld does all of this in one thread.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "lld/section_list.h"
#include "plan/front_link.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
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

  /// lld begins to place sections, and has placed them. Between these calls it asks the next two.
  /// `metAll` is called when the account has met all sections; never, if only one of our patterns
  /// has sections.
  void begin(FrontAccount &account, std::function<void()> metAll) {
    front = &account;
    onMetAll = std::move(metAll);
  }
  void end();
  bool isOn() const { return front; }

  /// Whether a section matches a pattern; none of a pattern that is not ours.
  std::optional<bool> matches(const lld::StringMatcher *matcher, llvm::StringRef name);
  /// The number by which lld sorts a section in the current pattern; none of a section that is not
  /// of the front.
  std::optional<int> order(llvm::StringRef name);

  /// Whether lld has asked about all sections that the first of our patterns has told: another lld
  /// may have another order.
  bool hasAskedForAll() const;

private:
  /// The sections of a pattern that lld has still to ask for, by their names, and their numbers in
  /// the front.
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
    Awaited *awaited = nullptr; ///< null for the first of our patterns
  };

  Current recognize(const lld::StringMatcher *matcher);
  bool matchesFirst(llvm::StringRef name);
  void place(llvm::StringRef name, std::optional<uint32_t> number);
  void checkSorted() const;
  void shortenList();

  FrontAccount *front = nullptr; ///< while lld places sections
  std::function<void()> onMetAll;
  Current current;
  std::array<Awaited, numPatterns> awaited;
  bool isAwaiting = false; ///< whether the first of our patterns was met
  /// The sections that the first pattern has found to be ours, in the order of lld's list.
  std::vector<const char *> told;
  /// The places of the current pattern's sections, by their names. lld asks for each of them dozens
  /// of times.
  llvm::DenseMap<const char *, uint32_t> orders;
  /// The two sections that lld asked for last. It compares two, then one of them with another.
  std::array<std::pair<const char *, uint32_t>, 2> lastOrders;
  unsigned olderOrder = 0; ///< its index in lastOrders
};

} // namespace frontload
