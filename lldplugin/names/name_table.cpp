//===- name_table.cpp - looks the names of a link up in a profile ----------===//

#include "names/name_table.h"
#include "names/constructors.h"
#include <algorithm>
#include <tuple>

using namespace llvm;

namespace frontload {

/// How many entries of a name or stem are kept, and as many of each file. Local variables of many
/// functions share a stem (`count.0`, `count.1`), and all of them with all of the link's would be
/// too many.
static constexpr size_t mostOfForm = 128;

void NameTable::add(Index &index, CachedHashStringRef form, uint32_t entry, const NameParts &parts,
                    Likeness least) {
  const ProfileEntry &profiled = profile.entries[entry];
  Wanted fresh{entry, least, profiled.kind, !profiled.file.empty()};
  auto isAlike = [&](const Wanted &other) {
    if (std::tie(other.least, other.kind, other.tellsFile) !=
        std::tie(fresh.least, fresh.kind, fresh.tellsFile))
      return false;
    NameParts others = partsOf(other);
    return std::tie(others.clones, others.parts, others.hash, others.stem) ==
           std::tie(parts.clones, parts.parts, parts.hash, parts.stem);
  };
  auto addTo = [&](Forms &forms) {
    if (forms.numEntries == mostOfForm)
      return;
    ++forms.numEntries;
    if (auto alike = llvm::find_if(forms.wanted, isAlike); alike != forms.wanted.end())
      alike->group = entryGroups.join(alike->group, entry);
    else
      forms.wanted.push_back(fresh);
  };
  addTo(index.all[form]);
  if (!profiled.file.empty())
    addTo(index.ofFile[{form, CachedHashStringRef(profiled.file)}]);
}

NameTable::NameTable(const StartupProfile &p) : profile(p), entryGroups(p.entries.size()) {
  for (auto [i, entry] : enumerate(p.entries)) {
    if (entry.kind != EntryKind::Function && entry.kind != EntryKind::Data)
      continue;
    NameParts parts = takeApart(entry.name);
    HashedName stem(parts.stem);
    auto number = uint32_t(i);
    add(byName, hashName(entry.name), number, parts, Likeness::Exact);
    add(byStem, stem.whole(), number, parts, Likeness::Suffix);
    heads.add(stem.hashOfHead());
    if (parts.stem != entry.name)
      otherStems.add(stem.whole().hash());
    for (const std::string &variant : otherVariants(parts.stem)) {
      HashedName other(saver.save(StringRef(variant)));
      add(byStem, other.whole(), number, parts, Likeness::Variant);
      heads.add(other.hashOfHead());
      otherStems.add(other.whole().hash());
    }
    if (isRustV0(parts.stem)) {
      StringRef path = saver.save(StringRef(withoutCrateHashes(parts.stem)));
      add(byRustPath, hashName(path), number, parts, Likeness::Hash);
    }
  }
}

template <class F>
void NameTable::forEach(const Index &index, CachedHashStringRef form,
                        ArrayRef<CachedHashStringRef> files, F f) const {
  auto all = index.all.find(form);
  if (all == index.all.end())
    return;
  for (CachedHashStringRef file : files)
    if (auto it = index.ofFile.find({form, file}); it != index.ofFile.end())
      for (const Wanted &wanted : it->second.wanted)
        f(wanted, /*isOfFile=*/true);
  for (const Wanted &wanted : all->second.wanted) {
    bool isOfThese = wanted.tellsFile && !entryGroups.isShared(wanted.group) &&
                     llvm::any_of(files, [&](CachedHashStringRef file) {
                       return file.val() == profile.entries[wanted.group].file;
                     });
    if (!isOfThese)
      f(wanted, /*isOfFile=*/false);
  }
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
    forEach(byName, whole, files, [&](const Wanted &wanted, bool isOfFile) {
      visit({wanted.group, Likeness::Exact, isOfFile});
    });
    // Most that are found at all are found exactly.
    if (!hashed.isPlain() || otherStems.mayContain(stem.hash()))
      forEach(byStem, stem, files, visitOther);
  }
  if (!byRustPath.all.empty() && isRustV0(name))
    forEach(byRustPath, hashName(withoutCrateHashes(parts.stem)), files,
            [&](const Wanted &wanted, bool isOfFile) {
              if (partsOf(wanted).stem != parts.stem)
                visitOther(wanted, isOfFile);
            });
}

} // namespace frontload
