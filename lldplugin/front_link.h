//===- front_link.h - one link with a front --------------------------------===//
//
// What ld.frontload does inside a link, apart from how it gets there (lld/lld_hooks.cpp): gather
// the input objects, plan the front once all are known, mark its sections, and answer the linker's
// question for their order. Afterwards it knows what was placed.
//
//===----------------------------------------------------------------------===//

#ifndef FRONTLOAD_LLDPLUGIN_FRONT_LINK_H
#define FRONTLOAD_LLDPLUGIN_FRONT_LINK_H

#include "startup_profile.h"
#include "startup_set.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace frontload {

class FrontLink {
public:
  /// `path` is where the profile came from, for messages.
  FrontLink(StartupProfile p, std::string path)
      : profile(std::move(p)), pathOfProfile(std::move(path)), startupSet(profile) {}

  /// Takes note of an input object. Objects that come after plan() are planned at once.
  llvm::Error addObject(llvm::MemoryBufferRef object);

  /// Finds the startup sections. Returns the linker script that places them.
  std::string plan();

  /// Whether the section with this name, by its address, is a startup section of class `c`.
  bool isStartupSection(llvm::StringRef name, SectionClass c) const;

  /// The place in first-touch order of such a section. It is taken as placed.
  std::optional<int> priority(llvm::StringRef name);

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
  };
  /// Valid after the link. `objects` gets the number of objects that contributed.
  std::array<Placed, numSectionClasses> placed(uint64_t &objects) const;

  const StartupProfile &startupProfile() const { return profile; }
  const std::string &profilePath() const { return pathOfProfile; }
  llvm::ArrayRef<EntryState> entryStates() const { return startupSet.entryStates(); }
  /// The number of profile entries that were found.
  uint64_t found() const;
  bool needsEdgeSymbols() const;

private:
  /// The startup sections of one object that share a name, and therefore a class.
  struct Known {
    uint32_t rank;
    uint32_t object;
    SectionClass sectionClass;
    bool isAskedFor;
    Placed contents;
  };

  void find(llvm::ArrayRef<llvm::MemoryBufferRef> objects);

  StartupProfile profile;
  std::string pathOfProfile;
  StartupSet startupSet;
  std::vector<llvm::MemoryBufferRef> objects;
  uint32_t numObjectsSeen = 0;
  bool isPlanned = false;
  llvm::DenseMap<const char *, Known> known;
  NameFilter knownNames{1 << 19};
};

} // namespace frontload

#endif
