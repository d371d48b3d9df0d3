// A profile's data, sections and strings.
//
// Recorded data need not be guessed; relocations find the rest. A profile records the objects of
// sections, and some section names contain their owners.
#pragma once

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
  /// Whether there are entries of sections whose names contain their owners.
  bool hasOwnedSections() const { return !owned.empty(); }
  /// The entries of such sections with this name, or with this unmarkedName(), of any object.
  llvm::ArrayRef<uint32_t> ownedSections(llvm::StringRef name) const;
  /// Whether a section of this name and class names its owner, and is among the entries.
  bool hasOwnedSection(llvm::StringRef name, SectionClass c) const;

private:
  llvm::StringMap<llvm::SmallVector<uint32_t, 4>> ofObject;
  llvm::StringMap<llvm::SmallVector<uint32_t, 1>> owned;
  llvm::DenseSet<llvm::StringRef> strings;
};

/// Whether a section's name may contain its owner (.rodata.function). `begin` has at least 8 bytes
/// of the name, or all of it.
inline bool mayTellOwner(llvm::StringRef begin) {
  return begin.starts_with(".rodata.") || begin.starts_with(".data.");
}

/// A section's name without the mark of how often its function runs: `.rodata.f` of `.rodata.hot.f`
/// and `.rodata.unlikely.f`. clang marks jump tables, by a profile and by clusters of basic blocks.
/// Empty if the name has no mark.
std::string unmarkedName(llvm::StringRef sectionName);

} // namespace frontload
