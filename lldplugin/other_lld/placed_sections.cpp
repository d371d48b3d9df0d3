//===- placed_sections.cpp - which planned sections another lld has placed -===//

#include "other_lld/placed_sections.h"
#include "elf/elf_object.h"
#include "names/name_hashes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace frontload {

/// Calls `visit` with the name of each symbol that is defined in `output`. Returns whether there is
/// a table of symbols.
template <class Visit> static bool forEachSymbolName(StringRef output, Visit visit) {
  bool hasTable = false;
  withElfObject(output, /*isLinked=*/true, [&](const auto &elf) {
    hasTable = !elf.symbols().empty();
    for (const auto &symbol : elf.symbols())
      if (symbol.st_shndx != ELF::SHN_UNDEF)
        visit(elf.name(symbol));
  });
  return hasTable;
}

static bool hasName(const KnownSection &section) {
  return !section.symbol.empty() && !section.isMerged;
}

bool placeBySymbols(FrontLink &link, ArrayRef<KnownSection> sections, StringRef output) {
  DenseMap<CachedHashStringRef, bool> isThere;
  NameFilter filter(1 << 19);
  for (const KnownSection &section : sections)
    if (hasName(section)) {
      CachedHashStringRef name = hashName(section.symbol);
      filter.add(name.hash());
      isThere.try_emplace(name, false);
    }
  bool hasSymbols = forEachSymbolName(output, [&](StringRef text) {
    CachedHashStringRef name = hashName(text);
    if (!filter.mayContain(name.hash()))
      return;
    if (auto it = isThere.find(name); it != isThere.end())
      it->second = true;
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
  return hasSymbols;
}

/// What a map calls an object.
static std::string nameInMap(const InputObject &object) {
  StringRef name = object.buffer.getBufferIdentifier();
  if (object.archive.empty())
    return name.str();
  return (object.archive + "(" + sys::path::filename(name) + ")").str();
}

namespace {
/// Names with line breaks, which a map prints as they are, in several lines.
class NamesOfLines {
public:
  void add(StringRef name) {
    if (!name.contains('\n'))
      return;
    SmallVectorImpl<size_t> &known = sizes[name.split('\n').first];
    if (!is_contained(known, name.size()))
      known.push_back(name.size());
  }
  /// Calls `found` with each beginning of `text` that may be such a name, until that returns true.
  void find(StringRef text, function_ref<bool(StringRef)> found) const {
    auto known = sizes.find(text.split('\n').first);
    if (known == sizes.end())
      return;
    for (size_t size : known->second)
      if (size <= text.size() && (size == text.size() || text[size] == '\n') &&
          found(text.take_front(size)))
        return;
  }

private:
  StringMap<SmallVector<size_t, 1>> sizes; ///< by the first line
};
} // namespace

void placeByMap(FrontLink &link, ArrayRef<KnownSection> sections, StringRef map) {
  StringMap<SmallVector<const char *, 1>> byName; // in reverse order
  StringMap<SmallVector<const char *, 0>> merged; // by object
  NamesOfLines severalLines;
  for (const KnownSection &section : llvm::reverse(sections)) {
    std::string object = nameInMap(*section.object);
    std::string name = object + ":(" + section.name + ")";
    severalLines.add(name);
    byName[name].push_back(section.name);
    if (section.isMerged)
      merged[object].push_back(section.name);
  }
  const char *const end = map.end(); // behind a last line without an end, `map` becomes null
  StringRef last;                    // the last object: nearly all have many lines
  while (!map.empty()) {
    StringRef line;
    std::tie(line, map) = map.split('\n');
    // Four columns of figures, and 8 columns for the output section's name.
    for (int i = 0; i < 4; ++i)
      line = line.ltrim(' ').drop_until([](char c) { return c == ' '; });
    if (!line.consume_front("         ") || line.starts_with(" "))
      continue;
    auto place = [&](StringRef name) {
      auto it = byName.find(name);
      bool isFound = it != byName.end() && !it->second.empty();
      if (isFound)
        link.account().place(it->second.pop_back_val());
      return isFound;
    };
    if (!place(line))
      severalLines.find(StringRef(line.data(), end - line.data()), place);
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
