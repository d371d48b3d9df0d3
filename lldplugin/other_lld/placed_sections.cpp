//===- placed_sections.cpp - which planned sections another lld has placed -===//

#include "other_lld/placed_sections.h"
#include "elf/elf_object.h"
#include "names/name_hashes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

static bool hasName(const KnownSection &section) {
  return !section.symbol.empty() && !section.isMerged;
}

void placeBySymbols(FrontLink &link, ArrayRef<KnownSection> sections, StringRef output) {
  DenseMap<CachedHashStringRef, bool> isThere;
  NameFilter filter(1 << 19);
  for (const KnownSection &section : sections)
    if (hasName(section)) {
      CachedHashStringRef name = hashName(section.symbol);
      filter.add(name.hash());
      isThere.try_emplace(name, false);
    }
  withElfObject(output, /*isLinked=*/true, [&](const auto &elf) {
    for (const auto &symbol : elf.symbols()) {
      if (symbol.st_shndx == ELF::SHN_UNDEF)
        continue;
      CachedHashStringRef name = hashName(elf.name(symbol));
      if (auto it = filter.mayContain(name.hash()) ? isThere.find(name) : isThere.end();
          it != isThere.end())
        it->second = true;
    }
  });
  DenseSet<const InputObject *> present;
  for (const KnownSection &section : sections)
    if (hasName(section) && isThere.lookup(hashName(section.symbol))) {
      link.account().place(section.name);
      present.insert(section.object);
    }
  for (const KnownSection &section : sections)
    if (!hasName(section) && (!section.object->isLazy || present.contains(section.object)))
      link.account().place(section.name);
}

/// What a map calls an object.
static std::string nameInMap(const InputObject &object) {
  StringRef name = object.buffer.getBufferIdentifier();
  if (object.archive.empty())
    return name.str();
  return (object.archive + "(" + sys::path::filename(name) + ")").str();
}

void placeByMap(FrontLink &link, ArrayRef<KnownSection> sections, StringRef map) {
  StringMap<SmallVector<const char *, 1>> byName; // in reverse order
  StringMap<SmallVector<const char *, 0>> merged; // by object
  for (const KnownSection &section : llvm::reverse(sections)) {
    std::string object = nameInMap(*section.object);
    byName[object + ":(" + section.name + ")"].push_back(section.name);
    if (section.isMerged)
      merged[object].push_back(section.name);
  }
  StringRef last; // the last object: nearly all have many lines
  while (!map.empty()) {
    StringRef line;
    std::tie(line, map) = map.split('\n');
    // Four columns of figures, and 8 columns for the output section's name.
    for (int i = 0; i < 4; ++i)
      line = line.ltrim(' ').drop_until([](char c) { return c == ' '; });
    if (!line.consume_front("         ") || line.starts_with(" "))
      continue;
    if (auto it = byName.find(line); it != byName.end() && !it->second.empty())
      link.account().place(it->second.pop_back_val());
    StringRef object = line.rsplit(":(").first;
    if (object == last)
      continue;
    last = object;
    if (auto it = merged.find(object); it != merged.end()) {
      llvm::for_each(it->second, [&](const char *name) { link.account().place(name); });
      merged.erase(it);
    }
  }
}

} // namespace frontload
