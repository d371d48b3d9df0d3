//===- front_link.cpp - one link with a front ------------------------------===//

#include "front_link.h"
#include "front_script.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/TimeProfiler.h"

using namespace llvm;

namespace frontload {

Error FrontLink::addObject(MemoryBufferRef object) {
  if (!isPlanned) {
    objects.push_back(object);
    return Error::success();
  }
  EdgeSymbols before = startupSet.edgeSymbols();
  find(object);
  // The linker script that defines these is with the linker already.
  for (unsigned i = 0; i < numEdgeSymbols; ++i)
    if (startupSet.edgeSymbols().isNeeded(i) && !before.isNeeded(i))
      return createStringError("'" + Twine(edgeSymbols[i]) +
                               "' is referred to by link-time optimized code only, and cannot be "
                               "put in its place; compile that code without -flto");
  return Error::success();
}

std::string FrontLink::plan() {
  TimeTraceScope scope("Front: plan");
  isPlanned = true;
  find(objects);
  objects = {};
  // Not the classes that were found so far: link-time optimization may bring more.
  ClassSet classes = {};
  classes[static_cast<unsigned>(SectionClass::Text)] = true;
  classes[static_cast<unsigned>(SectionClass::Rodata)] = true;
  for (const ProfileEntry &entry : profile.entries)
    classes[static_cast<unsigned>(entry.sectionClass)] = true;
  return frontScript(classes, startupSet.edgeSymbols());
}

/// The linker asks about each section of the link, and for nearly all of them the answer is no.
static CachedHashStringRef addressKey(const char *name) {
  return CachedHashStringRef(StringRef(), densemap::detail::mix(reinterpret_cast<uintptr_t>(name)));
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

bool FrontLink::isStartupSection(StringRef name, SectionClass c) const {
  if (!knownNames.mayContain(addressKey(name.data())))
    return false;
  auto it = known.find(name.data());
  return it != known.end() && it->second.sectionClass == c;
}

std::optional<int> FrontLink::priority(StringRef name) {
  auto it = known.find(name.data());
  if (it == known.end())
    return std::nullopt;
  it->second.isAskedFor = true;
  return it->second.rank;
}

std::array<FrontLink::Placed, numSectionClasses> FrontLink::placed(uint64_t &numObjects) const {
  std::array<Placed, numSectionClasses> sums;
  std::array<const Known *, numSectionClasses> first = {};
  DenseSet<uint32_t> contributors;
  // Sections that were discarded (COMDAT copies, --gc-sections, archive members that nothing
  // needed) are never compared with others.
  for (const auto &[name, m] : known) {
    unsigned c = static_cast<unsigned>(m.sectionClass);
    if (!first[c] || m.object < first[c]->object)
      first[c] = &m;
    if (!m.isAskedFor)
      continue;
    sums[c] += m.contents;
    contributors.insert(m.object);
  }
  // Where no comparison took place at all, one section was left at most; it counts as placed.
  for (unsigned c = 0; c < numSectionClasses; ++c)
    if (first[c] && !sums[c].sections) {
      sums[c] = first[c]->contents;
      contributors.insert(first[c]->object);
    }
  numObjects = contributors.size();
  return sums;
}

uint64_t FrontLink::found() const { return count(startupSet.entryStates(), EntryState::Found); }

bool FrontLink::needsEdgeSymbols() const {
  for (unsigned i = 0; i < numEdgeSymbols; ++i)
    if (startupSet.edgeSymbols().isNeeded(i))
      return true;
  return false;
}

} // namespace frontload
