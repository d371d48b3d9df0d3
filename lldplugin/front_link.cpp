//===- front_link.cpp - one link with a front ------------------------------===//

#include "front_link.h"
#include "front_script.h"
#include "section_renamer.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/TimeProfiler.h"

using namespace llvm;

namespace frontload {

Error FrontLink::addObject(MemoryBufferRef object) {
  if (isPlanned) {
    EdgeSymbols before = startupSet.edgeSymbols();
    if (Error e = mark(object))
      return e;
    // The linker script that defines these is with the linker already.
    for (unsigned i = 0; i < numEdgeSymbols; ++i)
      if (startupSet.edgeSymbols().isNeeded(i) && !before.isNeeded(i))
        return createStringError("'" + Twine(edgeSymbols[i]) +
                                 "' is referred to by link-time optimized code only, and cannot be "
                                 "put in its place; compile that code without -flto");
    return Error::success();
  }
  objects.push_back(object);
  return Error::success();
}

Expected<std::string> FrontLink::plan() {
  TimeTraceScope scope("Front: plan");
  isPlanned = true;
  if (Error e = mark(objects))
    return e;
  objects = {};
  // Not what was marked so far: link-time optimization may bring more.
  ClassSet classes = {};
  classes[static_cast<unsigned>(SectionClass::Text)] = true;
  classes[static_cast<unsigned>(SectionClass::Rodata)] = true;
  for (const ProfileEntry &entry : profile.entries)
    classes[static_cast<unsigned>(entry.sectionClass)] = true;
  return frontScript(classes, startupSet.edgeSymbols());
}

/// Whether a startup section is worth being told from others. Data that is in the front anyway need
/// not be put in order on a mere guess.
static bool isPlaced(const StartupSection &section) {
  return section.named || section.sectionClass == SectionClass::Text ||
         section.sectionClass == SectionClass::Rodata;
}

Error FrontLink::mark(ArrayRef<MemoryBufferRef> buffers) {
  std::vector<StartupSections> sections = startupSet.find(buffers);
  TimeTraceScope scope("Front: mark sections");
  for (StartupSections &s : sections)
    erase_if(s, [](const StartupSection &section) { return !isPlaced(section); });
  if (Error e = makeWritable(buffers, [&](size_t i) { return !sections[i].empty(); }))
    return e;

  std::vector<SmallVector<std::pair<const char *, StartupSection>, 0>> names(buffers.size());
  parallelFor(0, buffers.size(), [&](size_t i) {
    if (!sections[i].empty())
      renameStartupSections(buffers[i], sections[i],
                            [&](const StartupSection &section, const char *name) {
                              names[i].push_back({name, section});
                            });
  });
  size_t numNames = 0;
  for (const auto &object : names)
    numNames += object.size();
  marked.reserve(marked.size() + numNames);
  for (const auto &object : names) {
    for (auto [name, section] : object) {
      Marked &m =
          marked
              .try_emplace(name,
                           Marked{section.rank, numMarkedObjects, section.sectionClass, false, {}})
              .first->second;
      m.rank = std::min(m.rank, section.rank);
      m.contents += Placed{1, !section.named, section.size};
    }
    ++numMarkedObjects;
  }
  return Error::success();
}

std::optional<int> FrontLink::priority(StringRef name) {
  auto it = marked.find(name.data());
  if (it == marked.end()) {
    if (isStartupName(name))
      foreign = name.str();
    return std::nullopt;
  }
  it->second.isAskedFor = true;
  return it->second.rank;
}

std::array<FrontLink::Placed, numSectionClasses> FrontLink::placed(uint64_t &numObjects) const {
  std::array<Placed, numSectionClasses> sums;
  std::array<const Marked *, numSectionClasses> first = {};
  DenseSet<uint32_t> contributors;
  // Sections that were discarded (COMDAT copies, --gc-sections, archive members that nothing
  // needed) are never compared with others.
  for (const auto &[name, m] : marked) {
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
