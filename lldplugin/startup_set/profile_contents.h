//===- profile_contents.h - what a profile records besides functions -------===//
//
// What a profile records need not be guessed; relocations find the rest. A profile tells the
// objects of sections, and some names of sections tell by themselves whose they are.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_STARTUP_SET_PROFILE_CONTENTS_H
#define FRONTLOAD_LLDPLUGIN_STARTUP_SET_PROFILE_CONTENTS_H

#include "names/name_filter.h"
#include "profile/startup_profile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace frontload {

class ProfileContents {
public:
  explicit ProfileContents(const StartupProfile &profile);

  bool hasData = false, hasSections = false, hasStrings = false;
  /// Whether entries name their source files or objects.
  bool hasFiles = false;

  /// Whether a string is among the entries.
  bool isRecordedString(llvm::StringRef contents) const { return strings.contains(contents); }
  /// The entries of sections of the object of this name.
  llvm::ArrayRef<uint32_t> sectionsOf(llvm::StringRef object) const;
  /// Whether there are entries of sections whose name tells their owner.
  bool hasOwnedSections() const { return !owned.empty(); }
  /// Those of this name, of which `hash` is that of StringMap; of any object. There are also those
  /// that compilers have called after how often they run (see unmarkedName).
  llvm::ArrayRef<uint32_t> ownedSections(llvm::StringRef name, uint32_t hash) const;
  /// Whether a section of this name and class tells its owner, and is among the entries.
  bool hasOwnedSection(llvm::StringRef name, SectionClass c) const;

private:
  llvm::StringMap<llvm::SmallVector<uint32_t, 4>> ofObject;
  llvm::StringMap<llvm::SmallVector<uint32_t, 1>> owned;
  NameFilter ownedNames{1 << 16};
  llvm::DenseSet<llvm::StringRef> strings;
};

/// Whether a section's name may tell its owner (.rodata.function), by its beginning, of at least 8
/// bytes or all of it.
inline bool mayTellOwner(llvm::StringRef begin) {
  return begin.starts_with(".rodata.") || begin.starts_with(".data.");
}

/// The name of a section without what a compiler that knows how often its function runs has put
/// into it: `.rodata.f` of `.rodata.hot.f` and `.rodata.unlikely.f`. clang does so with tables of
/// jumps, by a profile and by clusters of basic blocks. Empty if there is nothing of that kind in
/// the name.
std::string unmarkedName(llvm::StringRef sectionName);

} // namespace frontload

#endif
