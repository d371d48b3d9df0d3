//===- name_table.cpp - looks the names of a link up in a profile ----------===//

#include "names/name_table.h"
#include "names/constructors.h"
#include <algorithm>
#include <tuple>

using namespace llvm;

namespace frontload {

/// At most this many entries of a name or stem are kept, and as many for each file. Local variables
/// of many functions share a stem (`count.0`, `count.1`): matching all of them with all of the
/// link's would take too long.
static constexpr size_t maxOfForm = 128;

void NameTable::addTo(uint32_t &first, const Wanted &fresh, const NameParts &parts) {
  auto isAlike = [&](const Wanted &other) {
    if (std::tie(other.least, other.kind, other.tellsFile) !=
        std::tie(fresh.least, fresh.kind, fresh.tellsFile))
      return false;
    NameParts others = partsOf(other);
    return std::tie(others.clones, others.parts, others.hash, others.stem) ==
           std::tie(parts.clones, parts.parts, parts.hash, parts.stem);
  };
  Wanted *alike = nullptr;
  size_t numEntries = 0;
  uint32_t *end = &first;
  for (; *end != none; end = &all[*end].next) {
    numEntries += entryGroups.size(all[*end].group);
    if (!alike && isAlike(all[*end]))
      alike = &all[*end];
  }
  if (numEntries >= maxOfForm)
    return;
  if (alike) {
    alike->group = entryGroups.join(alike->group, fresh.group);
  } else {
    *end = uint32_t(all.size());
    all.push_back(fresh);
  }
}

void NameTable::add(Index &index, uint32_t Form::*list, CachedHashStringRef text, uint32_t entry,
                    const NameParts &parts, Likeness least) {
  const ProfileEntry &profiled = profile.entries[entry];
  Wanted fresh{entry, none, least, profiled.kind, !profiled.file.empty()};
  addTo(index.forms[text].*list, fresh, parts);
  if (profiled.file.empty())
    return;
  uint32_t file =
      fileNumbers.try_emplace(CachedHashStringRef(profiled.file), fileNumbers.size()).first->second;
  addTo(index.ofFile[{text, file}].*list, fresh, parts);
}

/// Bits of the filters for each entry: hardly any name passes by chance.
static constexpr size_t bitsOfEntry = 16;

NameTable::NameTable(const StartupProfile &p)
    : profile(p), heads(filterBits(p.entries.size(), bitsOfEntry, 1 << 19)),
      otherStems(filterBits(p.entries.size(), bitsOfEntry, 1 << 16)),
      entryGroups(p.entries.size()) {
  names.forms.reserve(p.entries.size());
  all.reserve(2 * p.entries.size());
  for (auto [i, entry] : enumerate(p.entries)) {
    if (entry.kind != EntryKind::Function && entry.kind != EntryKind::Data)
      continue;
    NameParts parts = takeApart(entry.name);
    HashedName stem(parts.stem);
    auto number = uint32_t(i);
    bool isStem = parts.stem == entry.name;
    add(names, &Form::byName, isStem ? stem.whole() : hashName(entry.name), number, parts,
        Likeness::Exact);
    add(names, &Form::byStem, stem.whole(), number, parts, Likeness::Suffix);
    heads.add(stem.hashOfHead());
    if (!isStem)
      otherStems.add(stem.whole().hash());
    for (const std::string &variant : otherVariants(parts.stem)) {
      HashedName other(saver.save(StringRef(variant)));
      add(names, &Form::byStem, other.whole(), number, parts, Likeness::Variant);
      heads.add(other.hashOfHead());
      otherStems.add(other.whole().hash());
    }
    if (isRustV0(parts.stem)) {
      StringRef path = saver.save(StringRef(withoutCrateHashes(parts.stem)));
      add(rustPaths, &Form::byStem, hashName(path), number, parts, Likeness::Hash);
    }
  }
}

template <class F>
void NameTable::forEach(const Index &index, uint32_t Form::*list, CachedHashStringRef text,
                        ArrayRef<CachedHashStringRef> files, F f) const {
  auto form = index.forms.find(text);
  if (form == index.forms.end())
    return;
  auto visitAll = [&](const Form &of, auto visit) {
    for (uint32_t i = of.*list; i != none; i = all[i].next)
      visit(all[i]);
  };
  if (!index.ofFile.empty())
    for (CachedHashStringRef file : files)
      if (auto number = fileNumbers.find(file); number != fileNumbers.end())
        visitAll(index.ofFile.lookup({text, number->second}),
                 [&](const Wanted &each) { f(each, /*isOfFile=*/true); });
  visitAll(form->second, [&](const Wanted &each) {
    bool isOfThese = each.tellsFile && !entryGroups.isShared(each.group) &&
                     llvm::any_of(files, [&](CachedHashStringRef file) {
                       return file.val() == profile.entries[each.group].file;
                     });
    if (!isOfThese)
      f(each, /*isOfFile=*/false);
  });
}

void NameTable::findThorough(const HashedName &hashed, ArrayRef<CachedHashStringRef> files,
                             Visit visit) const {
  StringRef name = hashed.text();
  NameParts parts = takeApart(name);
  auto visitOther = [&](const Wanted &wanted, bool isOfFile) {
    bool isExact =
        !entryGroups.isShared(wanted.group) && profile.entries[wanted.group].name == name;
    if (!isExact)
      if (std::optional<Likeness> likeness = compare(partsOf(wanted), parts))
        visit({wanted.group, std::max(*likeness, wanted.least), isOfFile});
  };
  if (heads.mayContain(hashed.hashOfHead())) {
    CachedHashStringRef whole = hashed.whole();
    CachedHashStringRef stem = hashed.isPlain() ? whole : hashName(parts.stem);
    forEach(names, &Form::byName, whole, files, [&](const Wanted &wanted, bool isOfFile) {
      visit({wanted.group, Likeness::Exact, isOfFile});
    });
    // Most names that are found at all are found exactly.
    if (!hashed.isPlain() || otherStems.mayContain(stem.hash()))
      forEach(names, &Form::byStem, stem, files, visitOther);
  }
  if (!rustPaths.forms.empty() && isRustV0(name))
    forEach(rustPaths, &Form::byStem, hashName(withoutCrateHashes(parts.stem)), files,
            [&](const Wanted &wanted, bool isOfFile) {
              if (partsOf(wanted).stem != parts.stem)
                visitOther(wanted, isOfFile);
            });
}

} // namespace frontload
