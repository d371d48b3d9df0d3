// The input sections that a profile resolves to.
//
// A startup profile has names; a link places input sections. This step in between searches every
// input object of a link for the startup set: the sections that contain the profile's names, and
// the sections that they refer to, each with its rank in first-touch order. It also finds the
// sections that are likely to be used next.
#pragma once

#include "names/found_names.h"
#include "names/name_table.h"
#include "profile/startup_profile.h"
#include "startup_set/hot_strings.h"
#include "startup_set/input_object.h"
#include "startup_set/linked_names.h"
#include "startup_set/profile_contents.h"
#include "startup_set/search.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <functional>
#include <future>
#include <optional>
#include <vector>

namespace frontload {

/// The place of a section in the file.
enum class Region : uint8_t {
  Front,
  Next, ///< directly behind the front
};

/// A section of the startup set, or one that is likely to be used next.
struct StartupSection {
  const char *name; ///< points to its name in the object
  uint32_t index;   ///< in the object's section table
  uint32_t rank;    ///< its place in its region: the lowest comes first
  SectionClass sectionClass;
  Region region;
  bool named;        ///< in the profile; otherwise a named section refers to it
  uint8_t alignment; ///< the exponent of 2
  uint64_t size;     ///< in bytes
};

/// The startup sections of one object, each once, by index. Data without an entry is among them if
/// it is constant, and by the UnnamedRule.
using StartupSections = llvm::SmallVector<StartupSection, 0>;

class StartupSet {
public:
  /// `profile` must outlive the set. With `gathersStrings`, hotStrings() orders merged strings;
  /// without, all strings of an object are placed with its startup sections. `folding` is the
  /// linker's --icf, `unnamed` the rule for data that the profile does not name. With
  /// `isUntrained`, the constructors of objects that are not lazy belong to the startup set.
  StartupSet(const StartupProfile &profile, bool gathersStrings, Folding folding = Folding::None,
             UnnamedRule unnamed = UnnamedRule::Kept, bool isUntrained = false);

  /// Finds the startup sections of `objects`, one list per object, in `numThreads` threads. May be
  /// called again for objects that appear later in the link (those made by LTO).
  ///
  /// An entry stands for every definition that its name finds by the rules of names/found_names.h,
  /// because which copy of a COMDAT function will survive is not known yet.
  ///
  /// Only objects of the first one's ELF kind count: a linker refuses others.
  std::vector<StartupSections> find(llvm::ArrayRef<InputObject> objects, unsigned numThreads = 1);

  /// Finds the tails of all objects so far, one list per object: what starts are likely to touch
  /// beyond the startup set, of the sections whose names are `linked`, or of all if that is empty.
  /// It takes as long as the search for the set, so a linker may do something else meanwhile. The
  /// lists of objects of an earlier call are empty.
  std::vector<StartupSections> findTails(const NamesByObject &linked = {});

  /// The strings that startup reads: those of the profile, or, if it has none, those that the
  /// startup sections refer to.
  HotStrings &hotStrings() { return strings; }

  /// Whether an object so far was linked by Go's own linker.
  bool hasGo() const { return isGo; }
  /// Whether the loader leaves a good part of .data.rel.ro alone, although it relocates data.
  bool hasIdleRelro() const { return isIdle; }

  /// For all objects so far: how the entries were found, and where.
  const FoundNames &foundNames() const { return found; }
  /// The sections with names of their own in all objects so far; none with UnnamedRule::Kept.
  const OtherOutputs &otherOutputs() const { return others; }
  const EntryPlaces &entryPlaces() const { return places; }
  /// Parts of left-out sections that are worth reading with the front.
  llvm::ArrayRef<LeftOutPart> leftOutParts() const { return parts; }

private:
  template <class ELFT>
  std::vector<StartupSections> findIn(llvm::ArrayRef<InputObject> objects, unsigned numThreads);

  const StartupProfile &profile;
  const bool gathersStrings;
  const Folding folding;
  const UnnamedRule unnamed;
  const bool isUntrained;
  std::optional<NameTable> names;
  std::optional<ProfileContents> contents;
  bool isGo = false, isIdle = false;
  HotStrings strings;
  FoundNames found;
  EntryPlaces places;
  std::vector<LeftOutPart> parts;
  OtherOutputs others;
  uint32_t numObjects = 0, numWithTails = 0;
  using FindTails = std::function<std::vector<StartupSections>(const NamesByObject &)>;
  std::vector<FindTails> tails; ///< of each call of find()
  /// Fills `names`, `contents` and `strings` in a thread, while the linker opens its inputs. The
  /// last member, so that it is destroyed before they are.
  std::future<void> profileRead;
};

} // namespace frontload
