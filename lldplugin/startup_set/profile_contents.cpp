// A profile's data, sections and strings.
#include "startup_set/profile_contents.h"

using namespace llvm;

namespace frontload {

/// Whether a section's name has more than its class: the owner of its constants.
static bool tellsOwner(StringRef sectionName, SectionClass c) {
  StringRef stem = c == SectionClass::Relro ? ".data.rel.ro." : ".rodata.";
  return c == SectionClass::Data ? sectionName.starts_with(".data.")
                                 : sectionName.starts_with(stem);
}

std::string unmarkedName(StringRef sectionName) {
  constexpr StringLiteral stem = ".rodata.";
  StringRef owner = sectionName;
  if (owner.consume_front(stem) &&
      (owner.consume_front("hot.") || owner.consume_front("unlikely.")))
    return (stem + owner).str();
  return "";
}

ProfileContents::ProfileContents(const StartupProfile &profile) : hasData(profile.dataRuns) {
  for (uint32_t i = 0; i < profile.entries.size(); ++i) {
    const ProfileEntry &entry = profile.entries[i];
    hasFiles |= !entry.file.empty();
    if (entry.kind == EntryKind::String) {
      hasStrings = true;
      strings.insert(entry.name);
    }
    if (entry.kind != EntryKind::Section)
      continue;
    hasSections = true;
    ofObject[entry.file].push_back(i);
    if (!tellsOwner(entry.name, entry.sectionClass))
      continue;
    std::string unmarked = unmarkedName(entry.name);
    for (StringRef name : {StringRef(entry.name), StringRef(unmarked)})
      if (!name.empty())
        owned[name].push_back(i);
  }
}

ArrayRef<uint32_t> ProfileContents::sectionsOf(StringRef object) const {
  auto it = ofObject.find(object);
  return it == ofObject.end() ? ArrayRef<uint32_t>() : ArrayRef<uint32_t>(it->second);
}

ArrayRef<uint32_t> ProfileContents::ownedSections(StringRef name) const {
  auto it = owned.find(name);
  return it == owned.end() ? ArrayRef<uint32_t>() : ArrayRef<uint32_t>(it->second);
}

bool ProfileContents::hasOwnedSection(StringRef name, SectionClass c) const {
  if (!tellsOwner(name, c))
    return false;
  return owned.contains(name) || owned.contains(unmarkedName(name));
}

} // namespace frontload
