//===- front_link.cpp - one link with a front ------------------------------===//

#include "front_link.h"
#include "front_script.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/TimeProfiler.h"
#include <utility>

using namespace llvm;

namespace frontload {

/// The linker asks about each section of the link, and for nearly all of them the answer is no.
static CachedHashStringRef addressKey(const char *name) {
  return CachedHashStringRef(StringRef(), densemap::detail::mix(reinterpret_cast<uintptr_t>(name)));
}

void FrontLink::beginPlanning() {
  auto work = [this, buffers = std::exchange(objects, {})] { find(buffers); };
  if (parallel::strategy.ThreadsRequested == 1)
    work();
  else
    planner = std::thread(std::move(work));
}

void FrontLink::finishPlanning() {
  TimeTraceScope scope("Finish planning the front");
  if (planner.joinable())
    planner.join();
  find(std::exchange(objects, {}));
}

void FrontLink::find(ArrayRef<MemoryBufferRef> buffers) {
  std::vector<StartupSections> found = startupSet.find(buffers);
  size_t numSections = 0;
  for (const StartupSections &sections : found)
    numSections += sections.size();
  known.reserve(known.size() + numSections);
  for (const StartupSections &sections : found) {
    uint32_t object = numObjectsSeen++;
    for (const StartupSection &section : sections) {
      Known fresh{section.rank, object, section.sectionClass, false, {}};
      Known &k = known.try_emplace(section.name, fresh).first->second;
      k.rank = std::min(k.rank, section.rank);
      k.contents += Placed{1, !section.named, section.size};
      knownNames.add(addressKey(section.name));
    }
  }
}

std::string FrontLink::script() const {
  // Not the classes that were found so far: link-time optimization may bring more.
  ClassSet classes = {};
  classes[static_cast<unsigned>(SectionClass::Text)] = true;
  classes[static_cast<unsigned>(SectionClass::Rodata)] = true;
  for (const ProfileEntry &entry : profile.entries)
    classes[static_cast<unsigned>(entry.sectionClass)] = true;
  return frontScript(classes);
}

bool FrontLink::place(StringRef name, SectionClass c) {
  if (!knownNames.mayContain(addressKey(name.data())))
    return false;
  auto it = known.find(name.data());
  if (it == known.end() || it->second.sectionClass != c)
    return false;
  it->second.isPlaced = true;
  return true;
}

std::optional<int> FrontLink::priority(StringRef name) const {
  auto it = known.find(name.data());
  return it == known.end() ? std::nullopt : std::optional<int>(it->second.rank);
}

void FrontLink::finish() {
  DenseSet<uint32_t> contributors;
  for (const auto &[name, k] : known)
    if (k.isPlaced) {
      sums[static_cast<unsigned>(k.sectionClass)] += k.contents;
      contributors.insert(k.object);
    }
  numPlacedObjects = contributors.size();

  states.assign(profile.entries.size(), EntryState::NotDefined);
  auto raise = [&](uint32_t entry, EntryState state) {
    states[entry] = std::max(states[entry], state);
  };
  for (const EntryPlace &p : startupSet.entryPlaces())
    raise(p.entry,
          known.find(p.sectionName)->second.isPlaced ? EntryState::Placed : EntryState::Unused);
  for (uint32_t entry = 0; entry < states.size(); ++entry)
    if (startupSet.unmovableEntries()[entry])
      raise(entry, EntryState::Unmovable);
}

} // namespace frontload
